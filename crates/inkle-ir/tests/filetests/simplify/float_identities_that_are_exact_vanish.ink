;; test simplify
; x * 1, x / 1, x - 0 and x + -0; x + 0 and x * 0 stay.

kernel @k(%o: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %one = const 1.0 : f32
  %zero = const 0.0 : f32
  %minus = const -0.0 : f32
  %a = mul %one, %x : f32
  %b = div %a, %one : f32
  %c = sub %b, %zero : f32
  %d = add %c, %minus : f32
  %f = add %d, %zero : f32
  %g = mul %x, %zero : f32
  %r = sub %f, %g : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = const 0.0 : f32
  %4 = add %1, %3 : f32
  %5 = mul %1, %3 : f32
  %6 = sub %4, %5 : f32
  %7 = elem %0, %2 : ref<f32>
  store %7, %6
  return
}
