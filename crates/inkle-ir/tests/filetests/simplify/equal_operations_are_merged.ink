;; test simplify common
; Whatever the order of the operands of a sum.

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32) {
  %z = const 0 : i32
  %a = add %x, %y : f32
  %b = add %y, %x : f32
  %c = sub %x, %y : f32
  %d = sub %y, %x : f32
  %f = mul %a, %b : f32
  %g = mul %c, %d : f32
  %r = add %f, %g : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = add %1, %2 : f32
  %5 = sub %1, %2 : f32
  %6 = sub %2, %1 : f32
  %7 = mul %4, %4 : f32
  %8 = mul %5, %6 : f32
  %9 = add %7, %8 : f32
  %10 = elem %0, %3 : ref<f32>
  store %10, %9
  return
}
