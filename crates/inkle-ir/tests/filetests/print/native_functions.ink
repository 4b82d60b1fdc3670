;; test print
; The text of a native function is kept as it is, after its links.

native @wait() "WP_TILE_SYNC();"

native @"odd name"(%x: f32, %a "array": array<vec<3, f32>, 2>) -> (f32) "\n  // \"quoted\"\n  return x;\n"

native @twice(%0 x: f32) -> (f32) gradient @g replay @twice.2 "return 2.0f * x;"

native @twice.2(%0 x: f32) -> (f32) "return x;"

func @g(%0 x: f32, %1 adj_ret: f32, %2 adj_x: f32) -> (f32) {
  return %1
}

kernel @k(%x: f32) {
  call @wait()
  %y = call @twice(%x) : f32
  return
}

;; expect:
native @wait() "WP_TILE_SYNC();"

native @"odd name"(%0 x: f32, %1 array: array<vec<3, f32>, 2>) -> (f32) "\n  // \"quoted\"\n  return x;\n"

native @twice(%0 x: f32) -> (f32) gradient @g replay @twice.2 "return 2.0f * x;"

native @twice.2(%0 x: f32) -> (f32) "return x;"

func @g(%0 x: f32, %1 adj_ret: f32, %2 adj_x: f32) -> (f32) {
  return %1
}

kernel @k(%0 x: f32) {
  call @wait()
  %1 = call @twice(%0) : f32
  return
}
