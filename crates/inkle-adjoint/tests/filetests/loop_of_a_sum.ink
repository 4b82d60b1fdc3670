; No formula needs the sum, so nothing is kept of it.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = zero : f32
  %6 = for %7: i32 = %3, %1, %4 carry(%8: f32 = %5) -> (f32) {
    %9 = elem %0, %7 : ref<f32>
    %10 = load %9 : f32
    %11 = mul %10, %10 : f32
    %12 = add %8, %11 : f32
    yield %12
  }
  %13 = elem %2, %3 : ref<f32>
  store %13, %6
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = grad_array %2 : array<f32, 1>
  %6 = elem %5, %3 : ref<f32>
  %7 = load %6 : f32
  %8 = const 0.0 : f32
  store %6, %8
  %9 = max %1, %3 : i32
  for %10: i32 = %3, %9, %4 {
    %11 = sub %9, %4 : i32
    %12 = sub %11, %10 : i32
    %13 = elem %0, %12 : ref<f32>
    %14 = load %13 : f32
    %15 = mul %7, %14 : f32
    %16 = add %15, %15 : f32
    %17 = grad_array %0 : array<f32, 1>
    %18 = elem %17, %12 : ref<f32>
    %19 = atomic_add %18, %16 : f32
    yield
  }
  return
}
