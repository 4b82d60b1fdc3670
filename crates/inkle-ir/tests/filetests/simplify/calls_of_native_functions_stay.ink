;; test simplify
; What they do is not known: two calls are two, in order, even where nothing reads the result.

native @count(%0 x: f32) -> (f32) "static int n; return x + n++;"

native @unused() "return;"

kernel @k(%x: f32) {
  %a = call @count(%x) : f32
  %b = call @count(%x) : f32
  return
}

;; expect:
native @count(%0 x: f32) -> (f32) "static int n; return x + n++;"

kernel @k(%0 x: f32) {
  %1 = call @count(%0) : f32
  %2 = call @count(%0) : f32
  return
}
