;; test simplify
; A NaN is not less than anything, and differs from everything.

kernel @k(%o: array<bool, 1>) {
  %z = const 0 : i32
  %a = const nan : f32
  %b = const 1.0 : f32
  %c = lt %a, %b : bool
  %d = ne %a, %b : bool
  %r = or %c, %d : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>) {
  %1 = const 0 : i32
  %2 = const true : bool
  %3 = elem %0, %1 : ref<bool>
  store %3, %2
  return
}
