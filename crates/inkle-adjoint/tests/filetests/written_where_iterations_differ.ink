; Iteration k reads row k + 1, and iteration k + 1 writes that row, but at an index that is not known to be the same.
;; grads clear none

kernel @k(%0 x: array<f32, 2>, %1 n: array<i32, 1>, %2 count: i32) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  for %5: i32 = %3, %2, %4 {
    %6 = elem %1, %5 : ref<i32>
    %7 = load %6 : i32
    %8 = add %5, %4 : i32
    %9 = elem %0, %8, %7 : ref<f32>
    %10 = load %9 : f32
    %11 = sin %10 : f32
    %12 = elem %0, %5, %7 : ref<f32>
    store %12, %11
    yield
  }
  return
}

;; expect:
; G007: the gradient needs the value of an array element that may be overwritten later
kernel @k.backward(%0 x: array<f32, 2>, %1 n: array<i32, 1>, %2 count: i32) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = max %2, %3 : i32
  for %6: i32 = %3, %5, %4 {
    %7 = sub %5, %4 : i32
    %8 = sub %7, %6 : i32
    %9 = elem %1, %8 : ref<i32>
    %10 = load %9 : i32
    %11 = add %8, %4 : i32
    %12 = elem %0, %11, %10 : ref<f32>
    %13 = load %12 : f32
    %14 = grad_array %0 : array<f32, 2>
    %15 = elem %14, %8, %10 : ref<f32>
    %16 = load %15 : f32
    %17 = const 0.0 : f32
    store %15, %17
    %18 = cos %13 : f32
    %19 = mul %16, %18 : f32
    %20 = elem %14, %11, %10 : ref<f32>
    %21 = atomic_add %20, %19 : f32
    yield
  }
  return
}
