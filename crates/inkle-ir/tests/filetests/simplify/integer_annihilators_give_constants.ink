;; test simplify
; x * 0, x - x, x ^ x, x & 0, x | -1, x % 1.

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %one = const 1 : i32
  %m = const -1 : i32
  %e = elem %o, %z : ref<i32>
  %v0 = mul %x, %z : i32
  store %e, %v0
  %v1 = sub %x, %x : i32
  store %e, %v1
  %v2 = xor %x, %x : i32
  store %e, %v2
  %v3 = and %x, %z : i32
  store %e, %v3
  %v4 = or %x, %m : i32
  store %e, %v4
  %v5 = rem %x, %one : i32
  store %e, %v5
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = const -1 : i32
  %4 = elem %0, %2 : ref<i32>
  store %4, %2
  store %4, %2
  store %4, %2
  store %4, %2
  store %4, %3
  store %4, %2
  return
}
