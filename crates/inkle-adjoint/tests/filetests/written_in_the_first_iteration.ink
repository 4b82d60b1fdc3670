; Only the first iteration writes the element that all of them read.
;; grads clear clear

kernel @k(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 n: i32) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 2.0 : f32
  %6 = elem %0, %3 : ref<f32>
  for %7: i32 = %3, %2, %4 {
    %8 = eq %7, %3 : bool
    if %8 {
      store %6, %5
      yield
    } else {
      yield
    }
    %9 = load %6 : f32
    %10 = sin %9 : f32
    %11 = elem %1, %7 : ref<f32>
    store %11, %10
    yield
  }
  return
}

;; expect:
kernel @k.backward(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 n: i32) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = elem %0, %3 : ref<f32>
  %6 = max %2, %3 : i32
  for %7: i32 = %3, %6, %4 {
    %8 = sub %6, %4 : i32
    %9 = sub %8, %7 : i32
    %10 = eq %9, %3 : bool
    %11 = load %5 : f32
    %12 = grad_array %1 : array<f32, 1>
    %13 = elem %12, %9 : ref<f32>
    %14 = load %13 : f32
    %15 = const 0.0 : f32
    store %13, %15
    %16 = cos %11 : f32
    %17 = mul %14, %16 : f32
    %18 = grad_array %0 : array<f32, 1>
    %19 = elem %18, %3 : ref<f32>
    %20 = atomic_add %19, %17 : f32
    if %10 {
      store %19, %15
      yield
    } else {
      yield
    }
    yield
  }
  return
}
