;; kernel saxpy
kernel @saxpy(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 a: f32) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = mul %2, %5 : f32
  %7 = elem %1, %3 : ref<f32>
  %8 = load %7 : f32
  %9 = add %6, %8 : f32
  store %7, %9
  return
}

;; kernel grid
kernel @grid(%0 a: array<f32, 2>, %1 n: i32) {
  %2 = tid 0 : i32
  %3 = tid 1 : i32
  %4 = ge %2, %1 : bool
  if %4 {
    yield
  } else {
    %5 = const 0 : i32
    %6 = const 1 : i32
    %7 = const 0.0 : f32
    %8 = for %9: i32 = %5, %3, %6 carry(%10: f32 = %7) -> (f32) {
      %11 = elem %0, %2, %9 : ref<f32>
      %12 = load %11 : f32
      %13 = add %10, %12 : f32
      yield %13
    }
    %14 = elem %0, %2, %3 : ref<f32>
    store %14, %8
    yield
  }
  return
}
