;; test simplify
; Of floats only eq and ne: the others are false for NaN both ways.

kernel @k(%o: array<bool, 1>, %x: i32, %y: f32) {
  %z = const 0 : i32
  %a = lt %x, %z : bool
  %b = not %a : bool
  %c = lt %y, %y : bool
  %d = not %c : bool
  %f = eq %y, %y : bool
  %g = not %f : bool
  %h = and %b, %d : bool
  %r = and %h, %g : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 x: i32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = ge %1, %3 : bool
  %5 = lt %2, %2 : bool
  %6 = not %5 : bool
  %7 = ne %2, %2 : bool
  %8 = and %4, %6 : bool
  %9 = and %8, %7 : bool
  %10 = elem %0, %3 : ref<bool>
  store %10, %9
  return
}
