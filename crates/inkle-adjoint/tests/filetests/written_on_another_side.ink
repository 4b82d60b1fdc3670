; Threads below a bound read, the others write.
;; grads clear clear

kernel @k(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 bound: i32) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = lt %3, %2 : bool
  if %5 {
    %6 = load %4 : f32
    %7 = sin %6 : f32
    %8 = elem %1, %3 : ref<f32>
    store %8, %7
    yield
  } else {
    yield
  }
  %9 = ge %3, %2 : bool
  if %9 {
    %10 = const 0.0 : f32
    store %4, %10
    yield
  } else {
    yield
  }
  return
}

;; expect:
kernel @k.backward(%0 y: array<f32, 1>, %1 s: array<f32, 1>, %2 bound: i32) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = lt %3, %2 : bool
  %6 = ge %3, %2 : bool
  if %6 {
    %7 = grad_array %0 : array<f32, 1>
    %8 = elem %7, %3 : ref<f32>
    %9 = const 0.0 : f32
    store %8, %9
    yield
  } else {
    yield
  }
  if %5 {
    %10 = load %4 : f32
    %11 = grad_array %1 : array<f32, 1>
    %12 = elem %11, %3 : ref<f32>
    %13 = load %12 : f32
    %14 = const 0.0 : f32
    store %12, %14
    %15 = cos %10 : f32
    %16 = mul %13, %15 : f32
    %17 = grad_array %0 : array<f32, 1>
    %18 = elem %17, %3 : ref<f32>
    %19 = atomic_add %18, %16 : f32
    yield
  } else {
    yield
  }
  return
}
