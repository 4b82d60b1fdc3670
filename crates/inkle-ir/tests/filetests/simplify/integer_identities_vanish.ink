;; test simplify
; x + 0, x * 1, x - 0, x / 1, x << 0, x & -1, x | 0, x ^ 0.

kernel @k(%o: array<i32, 1>, %x: i32) {
  %z = const 0 : i32
  %one = const 1 : i32
  %m = const -1 : i32
  %a = add %x, %z : i32
  %b = mul %one, %a : i32
  %c = sub %b, %z : i32
  %d = div %c, %one : i32
  %f = shl %d, %z : i32
  %g = and %f, %m : i32
  %h = or %g, %z : i32
  %i = xor %z, %h : i32
  %r = floordiv %i, %one : i32
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<i32>
  store %3, %1
  return
}
