;; test simplify

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %m = const -2 : i32
  %r = for %i: i32 = %z, %m, %m carry(%c: i32 = %x) -> (i32) {
    %d = add %c, %x : i32
    %f = add %d, %i : i32
    yield %f
  }
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = add %1, %1 : i32
  %4 = elem %0, %2 : ref<i32>
  store %4, %3
  return
}
