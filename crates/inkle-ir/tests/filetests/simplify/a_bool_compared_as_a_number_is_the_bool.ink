;; test simplify

kernel @k(%o: array<bool, 1>, %x: bool) {
  %z = const 0 : i32
  %a = cast %x : i32
  %b = ne %a, %z : bool
  %f = const false : bool
  %c = ne %b, %f : bool
  %d = eq %a, %z : bool
  %r = and %c, %d : bool
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 x: bool) {
  %2 = const 0 : i32
  %3 = not %1 : bool
  %4 = and %1, %3 : bool
  %5 = elem %0, %2 : ref<bool>
  store %5, %4
  return
}
