; The array becomes a vector that the loop carries.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = local 4 : array<f32, 1>
  for %6: i32 = %3, %1, %4 {
    %7 = elem %0, %6 : ref<f32>
    %8 = load %7 : f32
    %9 = elem %5, %6 : ref<f32>
    store %9, %8
    yield
  }
  %10 = elem %5, %4 : ref<f32>
  %11 = load %10 : f32
  %12 = elem %2, %3 : ref<f32>
  store %12, %11
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
  %9 = zero : vec<4, f32>
  %10 = add %7, %8 : f32
  %11 = insert %9, %10, 1 : vec<4, f32>
  %12 = max %1, %3 : i32
  %13 = for %14: i32 = %3, %12, %4 carry(%15: vec<4, f32> = %11) -> (vec<4, f32>) {
    %16 = sub %12, %4 : i32
    %17 = sub %16, %14 : i32
    %18 = extract_dyn %15, %17 : f32
    %19 = insert_dyn %15, %8, %17 : vec<4, f32>
    %20 = grad_array %0 : array<f32, 1>
    %21 = elem %20, %17 : ref<f32>
    %22 = atomic_add %21, %18 : f32
    yield %19
  }
  return
}
