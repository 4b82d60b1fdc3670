;; kernel conversions
kernel @conversions(%0 n: i32, %1 f: f32, %2 u: u32, %3 b: bool, %4 d: f64, %5 oi: array<i32, 1>, %6 of: array<f32, 1>, %7 ou: array<u8, 1>) {
  %8 = cast %1 : i32
  %9 = const 0 : i32
  %10 = elem %5, %9 : ref<i32>
  store %10, %8
  %11 = cast %3 : i32
  %12 = const 1 : i32
  %13 = elem %5, %12 : ref<i32>
  store %13, %11
  %14 = cast %2 : i32
  %15 = const 2 : i32
  %16 = elem %5, %15 : ref<i32>
  store %16, %14
  %17 = cast %0 : f32
  %18 = elem %6, %9 : ref<f32>
  store %18, %17
  %19 = cast %4 : f32
  %20 = elem %6, %12 : ref<f32>
  store %20, %19
  %21 = cast %8 : u8
  %22 = elem %7, %9 : ref<u8>
  store %22, %21
  %23 = cast %0 : u8
  %24 = elem %7, %12 : ref<u8>
  store %24, %23
  %25 = bitcast %1 : i32
  %26 = const 3 : i32
  %27 = elem %5, %26 : ref<i32>
  store %27, %25
  %28 = elem %6, %15 : ref<f32>
  store %28, %17
  %29 = elem %6, %26 : ref<f32>
  %30 = const 1.0 : f32
  store %29, %30
  %31 = cast %0 : bool
  %32 = cast %31 : f32
  %33 = const 4 : i32
  %34 = elem %6, %33 : ref<f32>
  store %34, %32
  return
}
