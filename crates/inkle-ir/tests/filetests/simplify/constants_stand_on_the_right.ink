;; test simplify
; So equal sums look equal.

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %c = const 3 : i32
  %a = add %c, %x : i32
  %b = add %x, %c : i32
  %d = gt %c, %x : bool
  %f = cast %d : i32
  %g = add %a, %b : i32
  %r = add %g, %f : i32
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = const 3 : i32
  %4 = add %1, %3 : i32
  %5 = lt %1, %3 : bool
  %6 = cast %5 : i32
  %7 = add %4, %4 : i32
  %8 = add %7, %6 : i32
  %9 = elem %0, %2 : ref<i32>
  store %9, %8
  return
}
