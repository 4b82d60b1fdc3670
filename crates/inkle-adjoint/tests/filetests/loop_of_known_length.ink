; All of the few products are recorded.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = const 2 : i32
  %3 = const 44 : i32
  %4 = const 3 : i32
  %5 = const 1.0 : f32
  %6 = for %7: i32 = %2, %3, %4 carry(%8: f32 = %5) -> (f32) {
    %9 = elem %0, %7 : ref<f32>
    %10 = load %9 : f32
    %11 = mul %8, %10 : f32
    yield %11
  }
  %12 = elem %1, %2 : ref<f32>
  store %12, %6
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = const 2 : i32
  %3 = const 44 : i32
  %4 = const 3 : i32
  %5 = const 1.0 : f32
  %6 = local 14 : array<f32, 1>
  %7 = const 0 : i32
  %8, %9 = for %10: i32 = %2, %3, %4 carry(%11: f32 = %5, %12: i32 = %7) -> (f32, i32) {
    %13 = elem %6, %12 : ref<f32>
    store %13, %11
    %14 = elem %0, %10 : ref<f32>
    %15 = load %14 : f32
    %16 = mul %11, %15 : f32
    %17 = const 1 : i32
    %18 = add %12, %17 : i32
    yield %16, %18
  }
  %19 = grad_array %1 : array<f32, 1>
  %20 = elem %19, %2 : ref<f32>
  %21 = load %20 : f32
  %22 = const 0.0 : f32
  store %20, %22
  %23 = const 14 : i32
  %24 = const 1 : i32
  %25 = for %26: i32 = %7, %23, %24 carry(%27: f32 = %21) -> (f32) {
    %28 = const 13 : i32
    %29 = sub %28, %26 : i32
    %30 = elem %6, %29 : ref<f32>
    %31 = load %30 : f32
    %32 = mul %29, %4 : i32
    %33 = add %32, %2 : i32
    %34 = elem %0, %33 : ref<f32>
    %35 = load %34 : f32
    %36 = mul %27, %35 : f32
    %37 = mul %27, %31 : f32
    %38 = grad_array %0 : array<f32, 1>
    %39 = elem %38, %33 : ref<f32>
    %40 = atomic_add %39, %37 : f32
    yield %36
  }
  return
}
