;; test simplify

kernel @k(%o: array<bool, 1>, %x: bool, %c: bool) {
  %z = const 0 : i32
  %t = const true : bool
  %f = const false : bool
  %a = select %c, %t, %f : bool
  %b = select %a, %f, %t : bool
  %d = select %b, %t, %x : bool
  %r = select %d, %x, %f : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 x: bool, %2 c: bool) {
  %3 = const 0 : i32
  %4 = const true : bool
  %5 = select %2, %1, %4 : bool
  %6 = and %5, %1 : bool
  %7 = elem %0, %3 : ref<bool>
  store %7, %6
  return
}
