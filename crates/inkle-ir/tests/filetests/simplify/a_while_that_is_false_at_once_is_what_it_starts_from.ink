;; test simplify
; Its condition is still evaluated.

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %r = while carry(%c: i32 = %x) -> (i32) {
    print "once %d", %c
    %f = const false : bool
    yield %f
  } do(%d: i32) {
    %g = add %d, %d : i32
    yield %g
  }
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  print "once %d", %1
  %3 = elem %0, %2 : ref<i32>
  store %3, %1
  return
}
