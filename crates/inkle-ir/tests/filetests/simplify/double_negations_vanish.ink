;; test simplify

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %a = neg %x : i32
  %b = neg %a : i32
  %c = invert %b : i32
  %d = invert %c : i32
  %f = neg %d : i32
  %g = abs %f : i32
  %r = abs %g : i32
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = abs %1 : i32
  %4 = elem %0, %2 : ref<i32>
  store %4, %3
  return
}
