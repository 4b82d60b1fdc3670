;; test simplify
; (x + 1) + 2; integers only.

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %c = const 1 : i32
  %d = const 2 : i32
  %a = add %x, %c : i32
  %b = add %a, %d : i32
  %f = mul %b, %d : i32
  %r = mul %f, %d : i32
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = const 3 : i32
  %4 = add %1, %3 : i32
  %5 = const 4 : i32
  %6 = mul %4, %5 : i32
  %7 = elem %0, %2 : ref<i32>
  store %7, %6
  return
}
