;; test verify

func @f() -> (f32, i32) {
  %0 = const 1.0 : f32
  return %0
}
kernel @k(%x: f32, %i: i32, %b: bool) {
  %a = if %b -> (f32) { yield %x } else { yield }
  if %b { yield %x } else { yield }
  %c = for %l: i32 = %i, %i, %i carry(%m: f32 = %x) -> (f32) { yield %i }
  while { yield } do { yield }
  while { yield %b } do { yield %x }
  while { yield %i } do { yield }
  return
}

;; expect:
; V019: @f, `return %0`: gives (f32), not (f32, i32)
; V019: @k, `yield`: gives (), not (f32)
; V019: @k, `yield %0`: gives (f32), not ()
; V019: @k, `yield %1`: gives (i32), not (f32)
; V019: @k, `yield`: gives (), not (bool)
; V019: @k, `yield %0`: gives (f32), not ()
; V019: @k, `yield %1`: gives (i32), not (bool)
