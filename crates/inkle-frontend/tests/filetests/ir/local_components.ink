;; kernel vectors
kernel @vectors(%0 v: vec<3, f32>, %1 m: mat<3x3, f32>, %2 t: transform<f32>, %3 i: i32, %4 out: array<f32, 1>) {
  %5 = const 1.0 : f32
  %6 = insert %0, %5, 0 : vec<3, f32>
  %7 = extract %0, 1 : f32
  %8 = const 2.0 : f32
  %9 = add %7, %8 : f32
  %10 = insert %6, %9, 1 : vec<3, f32>
  %11 = const 3 : i32
  %12 = const 0 : i32
  %13 = lt %3, %12 : bool
  %14 = add %3, %11 : i32
  %15 = select %13, %14, %3 : i32
  %16 = const 3.0 : f32
  %17 = insert_dyn %10, %16, %15 : vec<3, f32>
  %18 = const 9.0 : f32
  %19 = extract %17, 0 : f32
  %20 = insert %1, %19, 1 : mat<3x3, f32>
  %21 = mul %15, %11 : i32
  %22 = const 1 : i32
  %23 = add %21, %22 : i32
  %24 = const 2 : i32
  %25 = add %21, %24 : i32
  %26 = insert_dyn %20, %18, %21 : mat<3x3, f32>
  %27 = extract %17, 1 : f32
  %28 = insert_dyn %26, %27, %23 : mat<3x3, f32>
  %29 = extract %17, 2 : f32
  %30 = insert_dyn %28, %29, %25 : mat<3x3, f32>
  %31 = insert %30, %19, 0 : mat<3x3, f32>
  %32 = insert %31, %27, 3 : mat<3x3, f32>
  %33 = insert %32, %29, 6 : mat<3x3, f32>
  %34 = const 4.0 : f32
  %35 = insert %33, %5, 1 : mat<3x3, f32>
  %36 = insert %35, %8, 2 : mat<3x3, f32>
  %37 = insert %36, %16, 4 : mat<3x3, f32>
  %38 = insert %37, %34, 5 : mat<3x3, f32>
  %39 = add %21, %15 : i32
  %40 = extract_dyn %38, %39 : f32
  %41 = add %40, %18 : f32
  %42 = add %41, %5 : f32
  %43 = add %42, %27 : f32
  %44 = elem %4, %12 : ref<f32>
  store %44, %43
  %45 = extract %30, 7 : f32
  %46 = add %29, %45 : f32
  %47 = elem %4, %22 : ref<f32>
  store %47, %46
  return
}

;; kernel slices
kernel @slices(%0 v: vec<4, f32>, %1 out: array<vec<2, f32>, 1>) {
  %2 = extract %0, 0 : f32
  %3 = extract %0, 1 : f32
  %4 = construct %2, %3 : vec<2, f32>
  %5 = const 0 : i32
  %6 = elem %1, %5 : ref<vec<2, f32>>
  store %6, %4
  %7 = extract %0, 2 : f32
  %8 = construct %2, %7 : vec<2, f32>
  %9 = const 1 : i32
  %10 = elem %1, %9 : ref<vec<2, f32>>
  store %10, %8
  %11 = extract %0, 3 : f32
  %12 = construct %11, %7 : vec<2, f32>
  %13 = const 2 : i32
  %14 = elem %1, %13 : ref<vec<2, f32>>
  store %14, %12
  return
}

;; kernel structs
struct Cell { level: f32, spin: vec<3, f32> }

kernel @structs(%0 a: array<struct Cell, 1>) {
  %1 = const 2.0 : f32
  %2 = zero : vec<3, f32>
  %3 = const 3.0 : f32
  %4 = insert %2, %3, 1 : vec<3, f32>
  %5 = construct %1, %4 : struct Cell
  %6 = const 1.0 : f32
  %7 = construct %3, %4 : struct Cell
  %8 = const 0 : i32
  %9 = elem %0, %8 : ref<struct Cell>
  store %9, %5
  %10 = const 1 : i32
  %11 = elem %0, %10 : ref<struct Cell>
  store %11, %7
  %12 = construct %6, %6, %6 : vec<3, f32>
  %13 = construct %6, %12 : struct Cell
  %14 = const 2 : i32
  %15 = elem %0, %14 : ref<struct Cell>
  store %15, %13
  return
}
