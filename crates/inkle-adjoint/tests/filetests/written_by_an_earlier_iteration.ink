; Iteration k reads what iteration k - 1 wrote, which nothing overwrites.
;; grads clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  for %4: i32 = %2, %1, %3 {
    %5 = add %4, %3 : i32
    %6 = elem %0, %4 : ref<f32>
    %7 = load %6 : f32
    %8 = sin %7 : f32
    %9 = elem %0, %5 : ref<f32>
    store %9, %8
    yield
  }
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = max %1, %2 : i32
  for %5: i32 = %2, %4, %3 {
    %6 = sub %4, %3 : i32
    %7 = sub %6, %5 : i32
    %8 = add %7, %3 : i32
    %9 = elem %0, %7 : ref<f32>
    %10 = load %9 : f32
    %11 = grad_array %0 : array<f32, 1>
    %12 = elem %11, %8 : ref<f32>
    %13 = load %12 : f32
    %14 = const 0.0 : f32
    store %12, %14
    %15 = cos %10 : f32
    %16 = mul %13, %15 : f32
    %17 = elem %11, %7 : ref<f32>
    %18 = atomic_add %17, %16 : f32
    yield
  }
  return
}
