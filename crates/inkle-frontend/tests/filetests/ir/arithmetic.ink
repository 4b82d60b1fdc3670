;; kernel floats
kernel @floats(%0 a: f32, %1 b: f32, %2 out: array<f32, 1>) {
  %3 = add %0, %1 : f32
  %4 = const 0 : i32
  %5 = elem %2, %4 : ref<f32>
  store %5, %3
  %6 = sub %0, %1 : f32
  %7 = const 1 : i32
  %8 = elem %2, %7 : ref<f32>
  store %8, %6
  %9 = mul %0, %1 : f32
  %10 = const 2 : i32
  %11 = elem %2, %10 : ref<f32>
  store %11, %9
  %12 = div %0, %1 : f32
  %13 = const 3 : i32
  %14 = elem %2, %13 : ref<f32>
  store %14, %12
  %15 = floordiv %0, %1 : f32
  %16 = const 4 : i32
  %17 = elem %2, %16 : ref<f32>
  store %17, %15
  %18 = rem %0, %1 : f32
  %19 = const 5 : i32
  %20 = elem %2, %19 : ref<f32>
  store %20, %18
  %21 = pow %0, %1 : f32
  %22 = const 6 : i32
  %23 = elem %2, %22 : ref<f32>
  store %23, %21
  %24 = neg %0 : f32
  %25 = const 7 : i32
  %26 = elem %2, %25 : ref<f32>
  store %26, %24
  %27 = const 8 : i32
  %28 = elem %2, %27 : ref<f32>
  store %28, %0
  return
}

;; kernel integers
kernel @integers(%0 a: i32, %1 b: i32, %2 out: array<i32, 1>) {
  %3 = div %0, %1 : i32
  %4 = const 0 : i32
  %5 = elem %2, %4 : ref<i32>
  store %5, %3
  %6 = floordiv %0, %1 : i32
  %7 = const 1 : i32
  %8 = elem %2, %7 : ref<i32>
  store %8, %6
  %9 = rem %0, %1 : i32
  %10 = const 2 : i32
  %11 = elem %2, %10 : ref<i32>
  store %11, %9
  %12 = and %0, %1 : i32
  %13 = const 3 : i32
  %14 = elem %2, %13 : ref<i32>
  store %14, %12
  %15 = or %0, %1 : i32
  %16 = const 4 : i32
  %17 = elem %2, %16 : ref<i32>
  store %17, %15
  %18 = xor %0, %1 : i32
  %19 = const 5 : i32
  %20 = elem %2, %19 : ref<i32>
  store %20, %18
  %21 = shl %0, %1 : i32
  %22 = const 6 : i32
  %23 = elem %2, %22 : ref<i32>
  store %23, %21
  %24 = shr %0, %1 : i32
  %25 = const 7 : i32
  %26 = elem %2, %25 : ref<i32>
  store %26, %24
  %27 = invert %0 : i32
  %28 = const 8 : i32
  %29 = elem %2, %28 : ref<i32>
  store %29, %27
  return
}

;; kernel widths
kernel @widths(%0 a: u8, %1 b: i64, %2 h: f16, %3 d: f64, %4 oa: array<u8, 1>, %5 ob: array<i64, 1>, %6 oh: array<f16, 1>, %7 od: array<f64, 1>) {
  %8 = const 250 : u8
  %9 = add %0, %8 : u8
  %10 = const 0 : i32
  %11 = elem %4, %10 : ref<u8>
  store %11, %9
  %12 = const 5000000001 : i64
  %13 = mul %1, %12 : i64
  %14 = elem %5, %10 : ref<i64>
  store %14, %13
  %15 = const 0.099975586 : f16
  %16 = mul %2, %15 : f16
  %17 = elem %6, %10 : ref<f16>
  store %17, %16
  %18 = const 0.1 : f64
  %19 = add %3, %18 : f64
  %20 = elem %7, %10 : ref<f64>
  store %20, %19
  %21 = const 1 : i32
  %22 = elem %7, %21 : ref<f64>
  %23 = const 3.141592653589793 : f64
  store %22, %23
  %24 = const 2 : i32
  %25 = elem %7, %24 : ref<f64>
  %26 = const 6.283185307179586 : f64
  store %25, %26
  return
}

;; kernel folded
kernel @folded(%0 out: array<i32, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<i32>
  %3 = const -4 : i32
  store %2, %3
  %4 = const 1 : i32
  %5 = elem %0, %4 : ref<i32>
  %6 = const -1 : i32
  store %5, %6
  %7 = const 2 : i32
  %8 = elem %0, %7 : ref<i32>
  %9 = const -3 : i32
  store %8, %9
  %10 = const 3 : i32
  %11 = elem %0, %10 : ref<i32>
  %12 = const 19 : i32
  store %11, %12
  %13 = const 4 : i32
  %14 = elem %0, %13 : ref<i32>
  %15 = const 42 : i32
  store %14, %15
  return
}
