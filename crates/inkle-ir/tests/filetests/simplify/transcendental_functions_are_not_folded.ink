;; test simplify fold

kernel @k(%o: array<f32, 1>) {
  %z = const 0 : i32
  %a = const 1.0 : f32
  %b = sin %a : f32
  %c = exp %a : f32
  %d = rsqrt %a : f32
  %f = pow %a, %b : f32
  %g = add %c, %d : f32
  %r = add %f, %g : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>) {
  %1 = const 0 : i32
  %2 = const 1.0 : f32
  %3 = sin %2 : f32
  %4 = exp %2 : f32
  %5 = rsqrt %2 : f32
  %6 = pow %2, %3 : f32
  %7 = add %4, %5 : f32
  %8 = add %6, %7 : f32
  %9 = elem %0, %1 : ref<f32>
  store %9, %8
  return
}
