;; kernel products
func @_mat_vec(%0 a: mat<3x3, f32>, %1 v: vec<3, f32>) -> (vec<3, f32>) {
  %2 = extract %0, 0 : f32
  %3 = extract %1, 0 : f32
  %4 = mul %2, %3 : f32
  %5 = extract %0, 1 : f32
  %6 = extract %1, 1 : f32
  %7 = mul %5, %6 : f32
  %8 = add %4, %7 : f32
  %9 = extract %0, 2 : f32
  %10 = extract %1, 2 : f32
  %11 = mul %9, %10 : f32
  %12 = add %8, %11 : f32
  %13 = extract %0, 3 : f32
  %14 = mul %13, %3 : f32
  %15 = extract %0, 4 : f32
  %16 = mul %15, %6 : f32
  %17 = add %14, %16 : f32
  %18 = extract %0, 5 : f32
  %19 = mul %18, %10 : f32
  %20 = add %17, %19 : f32
  %21 = extract %0, 6 : f32
  %22 = mul %21, %3 : f32
  %23 = extract %0, 7 : f32
  %24 = mul %23, %6 : f32
  %25 = add %22, %24 : f32
  %26 = extract %0, 8 : f32
  %27 = mul %26, %10 : f32
  %28 = add %25, %27 : f32
  %29 = construct %12, %20, %28 : vec<3, f32>
  return %29
}

kernel @products(%0 m: mat<3x3, f32>, %1 n: mat<3x3, f32>, %2 v: vec<3, f32>, %3 s: f32, %4 om: array<mat<3x3, f32>, 1>, %5 ov: array<vec<3, f32>, 1>) {
  %6 = construct %3, %3, %3, %3, %3, %3, %3, %3, %3 : mat<3x3, f32>
  %7 = mul %0, %6 : mat<3x3, f32>
  %8 = const 0 : i32
  %9 = elem %4, %8 : ref<mat<3x3, f32>>
  store %9, %7
  %10 = const 1 : i32
  %11 = elem %4, %10 : ref<mat<3x3, f32>>
  store %11, %7
  %12 = div %0, %6 : mat<3x3, f32>
  %13 = const 2 : i32
  %14 = elem %4, %13 : ref<mat<3x3, f32>>
  store %14, %12
  %15 = add %0, %1 : mat<3x3, f32>
  %16 = const 3 : i32
  %17 = elem %4, %16 : ref<mat<3x3, f32>>
  store %17, %15
  %18 = call @_mat_vec(%0, %2) : vec<3, f32>
  %19 = elem %5, %8 : ref<vec<3, f32>>
  store %19, %18
  %20 = construct %3, %3, %3 : vec<3, f32>
  %21 = mul %2, %20 : vec<3, f32>
  %22 = div %2, %20 : vec<3, f32>
  %23 = add %21, %22 : vec<3, f32>
  %24 = elem %5, %10 : ref<vec<3, f32>>
  store %24, %23
  %25 = div %20, %2 : vec<3, f32>
  %26 = elem %5, %13 : ref<vec<3, f32>>
  store %26, %25
  %27 = neg %2 : vec<3, f32>
  %28 = rem %27, %2 : vec<3, f32>
  %29 = elem %5, %16 : ref<vec<3, f32>>
  store %29, %28
  return
}

;; kernel matmul
func @_mat_mul(%0 a: mat<2x2, f32>, %1 b: mat<2x2, f32>) -> (mat<2x2, f32>) {
  %2 = extract %0, 0 : f32
  %3 = extract %1, 0 : f32
  %4 = mul %2, %3 : f32
  %5 = extract %0, 1 : f32
  %6 = extract %1, 2 : f32
  %7 = mul %5, %6 : f32
  %8 = add %4, %7 : f32
  %9 = extract %1, 1 : f32
  %10 = mul %2, %9 : f32
  %11 = extract %1, 3 : f32
  %12 = mul %5, %11 : f32
  %13 = add %10, %12 : f32
  %14 = extract %0, 2 : f32
  %15 = mul %14, %3 : f32
  %16 = extract %0, 3 : f32
  %17 = mul %16, %6 : f32
  %18 = add %15, %17 : f32
  %19 = mul %14, %9 : f32
  %20 = mul %16, %11 : f32
  %21 = add %19, %20 : f32
  %22 = construct %8, %13, %18, %21 : mat<2x2, f32>
  return %22
}

func @_vec_mat(%0 v: vec<2, f32>, %1 a: mat<2x2, f32>) -> (vec<2, f32>) {
  %2 = extract %0, 0 : f32
  %3 = extract %1, 0 : f32
  %4 = mul %2, %3 : f32
  %5 = extract %0, 1 : f32
  %6 = extract %1, 2 : f32
  %7 = mul %5, %6 : f32
  %8 = add %4, %7 : f32
  %9 = extract %1, 1 : f32
  %10 = mul %2, %9 : f32
  %11 = extract %1, 3 : f32
  %12 = mul %5, %11 : f32
  %13 = add %10, %12 : f32
  %14 = construct %8, %13 : vec<2, f32>
  return %14
}

kernel @matmul(%0 m: mat<2x2, f32>, %1 v: vec<2, f32>, %2 om: array<mat<2x2, f32>, 1>, %3 ov: array<vec<2, f32>, 1>) {
  %4 = call @_mat_mul(%0, %0) : mat<2x2, f32>
  %5 = const 0 : i32
  %6 = elem %2, %5 : ref<mat<2x2, f32>>
  store %6, %4
  %7 = call @_vec_mat(%1, %0) : vec<2, f32>
  %8 = elem %3, %5 : ref<vec<2, f32>>
  store %8, %7
  return
}

;; kernel rotations
func @transform_get_translation(%0 xform: transform<f32>) -> (vec<3, f32>) {
  %1 = extract %0, 0 : f32
  %2 = extract %0, 1 : f32
  %3 = extract %0, 2 : f32
  %4 = construct %1, %2, %3 : vec<3, f32>
  return %4
}

kernel @rotations(%0 q: quat<f32>, %1 t: transform<f32>, %2 v: vec<3, f32>, %3 ov: array<vec<3, f32>, 1>, %4 oq: array<quat<f32>, 1>) {
  %5 = const 2.0 : f32
  %6 = construct %5, %5, %5, %5 : quat<f32>
  %7 = mul %0, %6 : quat<f32>
  %8 = const 0 : i32
  %9 = elem %4, %8 : ref<quat<f32>>
  store %9, %7
  %10 = add %0, %0 : quat<f32>
  %11 = const 1 : i32
  %12 = elem %4, %11 : ref<quat<f32>>
  store %12, %10
  %13 = call @transform_get_translation(%1) : vec<3, f32>
  %14 = elem %3, %8 : ref<vec<3, f32>>
  store %14, %13
  return
}

;; kernel constructors
kernel @constructors(%0 v: vec<3, f32>, %1 d: vec<3, f64>, %2 q: quat<f32>, %3 s: f32, %4 ov: array<vec<3, f32>, 1>, %5 om: array<mat<2x2, f32>, 1>, %6 ot: array<transform<f32>, 1>) {
  %7 = zero : vec<3, f32>
  %8 = const 0 : i32
  %9 = elem %4, %8 : ref<vec<3, f32>>
  store %9, %7
  %10 = construct %3, %3, %3 : vec<3, f32>
  %11 = const 1 : i32
  %12 = elem %4, %11 : ref<vec<3, f32>>
  store %12, %10
  %13 = cast %1 : vec<3, f32>
  %14 = const 2 : i32
  %15 = elem %4, %14 : ref<vec<3, f32>>
  store %15, %13
  %16 = const 1.0 : f32
  %17 = const 2.0 : f32
  %18 = construct %16, %17, %3 : vec<3, f32>
  %19 = const 3 : i32
  %20 = elem %4, %19 : ref<vec<3, f32>>
  store %20, %18
  %21 = const 4 : i32
  %22 = elem %4, %21 : ref<vec<3, f32>>
  store %22, %10
  %23 = const 3.0 : f32
  %24 = construct %16, %17, %23, %3 : mat<2x2, f32>
  %25 = elem %5, %8 : ref<mat<2x2, f32>>
  store %25, %24
  %26 = const 0.0 : f32
  %27 = construct %16, %26, %26, %16 : mat<2x2, f32>
  %28 = elem %5, %11 : ref<mat<2x2, f32>>
  store %28, %27
  %29 = extract %0, 0 : f32
  %30 = extract %0, 1 : f32
  %31 = extract %0, 2 : f32
  %32 = extract %2, 0 : f32
  %33 = extract %2, 1 : f32
  %34 = extract %2, 2 : f32
  %35 = extract %2, 3 : f32
  %36 = construct %29, %30, %31, %32, %33, %34, %35 : transform<f32>
  %37 = elem %6, %8 : ref<transform<f32>>
  store %37, %36
  %38 = zero : transform<f32>
  %39 = insert %38, %16, 6 : transform<f32>
  %40 = elem %6, %11 : ref<transform<f32>>
  store %40, %39
  %41 = construct %31, %30, %29 : vec<3, f32>
  %42 = const 5 : i32
  %43 = elem %4, %42 : ref<vec<3, f32>>
  store %43, %41
  return
}
