;; test simplify
; Constants of the blocks do not hinder it.

kernel @k(%o: array<bool, 1>, %a: bool, %b: bool) {
  %z = const 0 : i32
  %f = const false : bool
  %r = if %a -> (bool) {
    yield %b
  } else {
    yield %f
  }
  %at = elem %o, %z : ref<bool>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<bool, 1>, %1 a: bool, %2 b: bool) {
  %3 = const 0 : i32
  %4 = and %1, %2 : bool
  %5 = elem %0, %3 : ref<bool>
  store %5, %4
  return
}
