;; kernel constants
kernel @constants(%0 out: array<f32, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<f32>
  %3 = const 1.0 : f32
  store %2, %3
  %4 = const 1 : i32
  %5 = elem %0, %4 : ref<f32>
  %6 = const 3.0 : f32
  store %5, %6
  %7 = const 2 : i32
  %8 = elem %0, %7 : ref<f32>
  %9 = const 1.5 : f32
  store %8, %9
  %10 = const 3 : i32
  %11 = elem %0, %10 : ref<f32>
  store %11, %9
  %12 = const 5 : i32
  %13 = elem %0, %12 : ref<f32>
  %14 = const 0.1 : f32
  store %13, %14
  %15 = const 6 : i32
  %16 = elem %0, %15 : ref<f32>
  store %16, %3
  return
}
