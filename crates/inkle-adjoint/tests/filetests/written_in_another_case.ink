; The element is read in one case and written in another one.
;; grads clear clear none

kernel @k(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 kind: array<i32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %2, %3 : ref<i32>
  %5 = load %4 : i32
  %6 = const 1 : i32
  %7 = const 2 : i32
  %8 = eq %5, %6 : bool
  if %8 {
    %9 = elem %0, %3 : ref<f32>
    %10 = load %9 : f32
    %11 = sin %10 : f32
    %12 = elem %1, %3 : ref<f32>
    store %12, %11
    yield
  } else {
    yield
  }
  %13 = eq %5, %7 : bool
  if %13 {
    %14 = elem %1, %3 : ref<f32>
    %15 = load %14 : f32
    %16 = elem %0, %3 : ref<f32>
    store %16, %15
    yield
  } else {
    yield
  }
  return
}

;; expect:
kernel @k.backward(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 kind: array<i32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %2, %3 : ref<i32>
  %5 = load %4 : i32
  %6 = const 1 : i32
  %7 = const 2 : i32
  %8 = eq %5, %6 : bool
  %9 = eq %5, %7 : bool
  if %9 {
    %10 = grad_array %0 : array<f32, 1>
    %11 = elem %10, %3 : ref<f32>
    %12 = load %11 : f32
    %13 = const 0.0 : f32
    store %11, %13
    %14 = grad_array %1 : array<f32, 1>
    %15 = elem %14, %3 : ref<f32>
    %16 = atomic_add %15, %12 : f32
    yield
  } else {
    yield
  }
  if %8 {
    %17 = elem %0, %3 : ref<f32>
    %18 = load %17 : f32
    %19 = grad_array %1 : array<f32, 1>
    %20 = elem %19, %3 : ref<f32>
    %21 = load %20 : f32
    %22 = const 0.0 : f32
    store %20, %22
    %23 = cos %18 : f32
    %24 = mul %21, %23 : f32
    %25 = grad_array %0 : array<f32, 1>
    %26 = elem %25, %3 : ref<f32>
    %27 = atomic_add %26, %24 : f32
    yield
  } else {
    yield
  }
  return
}
