;; test simplify
; A float may be NaN.

kernel @k(%o: array<bool, 1>, %x: i32, %y: f32) {
  %z = const 0 : i32
  %a = le %x, %x : bool
  %b = ne %x, %x : bool
  %c = eq %y, %y : bool
  %d = xor %a, %b : bool
  %r = and %d, %c : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 x: i32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = eq %2, %2 : bool
  %5 = elem %0, %3 : ref<bool>
  store %5, %4
  return
}
