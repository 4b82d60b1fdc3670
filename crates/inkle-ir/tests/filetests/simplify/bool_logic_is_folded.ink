;; test simplify

kernel @k(%o: array<bool, 1>, %x: bool) {
  %z = const 0 : i32
  %t = const true : bool
  %f = const false : bool
  %a = and %x, %t : bool
  %b = or %f, %a : bool
  %c = xor %b, %t : bool
  %d = not %c : bool
  %g = xor %d, %d : bool
  %r = or %x, %g : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 x: bool) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<bool>
  store %3, %1
  return
}
