;; kernel vectors
kernel @vectors(%0 v: array<vec<3, f32>, 1>, %1 m: array<mat<3x3, f32>, 1>, %2 q: array<quat<f32>, 1>, %3 t: array<transform<f32>, 1>, %4 i: i32) {
  %5 = const 0 : i32
  %6 = elem %0, %5 : ref<vec<3, f32>>
  %7 = comp %6, %5 : ref<f32>
  %8 = const 1.0 : f32
  store %7, %8
  %9 = const 1 : i32
  %10 = comp %6, %9 : ref<f32>
  %11 = const 2.0 : f32
  store %10, %11
  %12 = shape %0, 0 : i32
  %13 = lt %4, %5 : bool
  %14 = add %4, %12 : i32
  %15 = select %13, %14, %4 : i32
  %16 = elem %0, %15 : ref<vec<3, f32>>
  %17 = const 2 : i32
  %18 = comp %16, %17 : ref<f32>
  %19 = const 3.0 : f32
  %20 = atomic_add %18, %19 : f32
  %21 = const 3 : i32
  %22 = add %4, %21 : i32
  %23 = select %13, %22, %4 : i32
  %24 = comp %16, %23 : ref<f32>
  %25 = load %24 : f32
  %26 = mul %25, %11 : f32
  store %24, %26
  %27 = elem %1, %5 : ref<mat<3x3, f32>>
  %28 = const 5 : i32
  %29 = comp %27, %28 : ref<f32>
  %30 = const 4.0 : f32
  store %29, %30
  %31 = const 5.0 : f32
  store %29, %31
  %32 = load %27 : mat<3x3, f32>
  %33 = insert %32, %8, 3 : mat<3x3, f32>
  %34 = insert %33, %11, 4 : mat<3x3, f32>
  %35 = insert %34, %19, 5 : mat<3x3, f32>
  store %27, %35
  %36 = elem %2, %5 : ref<quat<f32>>
  %37 = comp %36, %21 : ref<f32>
  store %37, %8
  %38 = elem %3, %5 : ref<transform<f32>>
  %39 = comp %38, %5 : ref<f32>
  %40 = const 6.0 : f32
  store %39, %40
  %41 = const 0.0 : f32
  %42 = load %38 : transform<f32>
  %43 = insert %42, %41, 3 : transform<f32>
  %44 = insert %43, %41, 4 : transform<f32>
  %45 = insert %44, %41, 5 : transform<f32>
  %46 = insert %45, %8, 6 : transform<f32>
  store %38, %46
  %47 = load %16 : vec<3, f32>
  %48 = insert %47, %8, 0 : vec<3, f32>
  %49 = insert %48, %11, 1 : vec<3, f32>
  store %16, %49
  return
}

;; kernel structs
struct Cell { level: f32, spin: vec<3, f32> }
struct Grid { cells: array<struct Cell, 1>, counts: array<i32, 2>, origin: vec<3, f32> }

kernel @structs(%0 c: array<struct Cell, 1>, %1 g: struct Grid, %2 gs: array<struct Grid, 1>, %3 i: i32) {
  %4 = shape %0, 0 : i32
  %5 = const 0 : i32
  %6 = lt %3, %5 : bool
  %7 = add %3, %4 : i32
  %8 = select %6, %7, %3 : i32
  %9 = elem %0, %8 : ref<struct Cell>
  %10 = field %9, 0 : ref<f32>
  %11 = const 1.0 : f32
  store %10, %11
  %12 = field %9, 1 : ref<vec<3, f32>>
  %13 = const 1 : i32
  %14 = comp %12, %13 : ref<f32>
  %15 = const 2.0 : f32
  %16 = atomic_add %14, %15 : f32
  %17 = elem %0, %13 : ref<struct Cell>
  %18 = load %17 : struct Cell
  %19 = elem %0, %5 : ref<struct Cell>
  store %19, %18
  %20 = load %10 : f32
  %21 = extract %1, 0 : array<struct Cell, 1>
  %22 = shape %21, 0 : i32
  %23 = add %3, %22 : i32
  %24 = select %6, %23, %3 : i32
  %25 = elem %21, %24 : ref<struct Cell>
  %26 = field %25, 0 : ref<f32>
  store %26, %20
  %27 = extract %1, 1 : array<i32, 2>
  %28 = shape %27, 0 : i32
  %29 = add %3, %28 : i32
  %30 = select %6, %29, %3 : i32
  %31 = elem %27, %30, %5 : ref<i32>
  %32 = atomic_add %31, %13 : i32
  %33 = extract %1, 2 : vec<3, f32>
  %34 = const 4.0 : f32
  %35 = insert %33, %34, 0 : vec<3, f32>
  %36 = field %19, 1 : ref<vec<3, f32>>
  store %36, %35
  %37 = shape %2, 0 : i32
  %38 = add %3, %37 : i32
  %39 = select %6, %38, %3 : i32
  %40 = elem %2, %39 : ref<struct Grid>
  %41 = field %40, 0 : ref<array<struct Cell, 1>>
  %42 = load %41 : array<struct Cell, 1>
  %43 = elem %42, %5 : ref<struct Cell>
  %44 = field %43, 1 : ref<vec<3, f32>>
  %45 = comp %44, %13 : ref<f32>
  store %45, %11
  return
}

;; kernel index_once
kernel @index_once(%0 v: array<mat<2x2, f32>, 1>, %1 n: array<i32, 1>) {
  %2 = const 1.0 : f32
  %3 = const 2.0 : f32
  %4 = construct %2, %3 : vec<2, f32>
  %5 = const 0 : i32
  %6 = elem %1, %5 : ref<i32>
  %7 = const 1 : i32
  %8 = atomic_add %6, %7 : i32
  %9 = shape %0, 0 : i32
  %10 = lt %8, %5 : bool
  %11 = add %8, %9 : i32
  %12 = select %10, %11, %8 : i32
  %13 = elem %0, %12 : ref<mat<2x2, f32>>
  %14 = load %13 : mat<2x2, f32>
  %15 = insert %14, %2, 0 : mat<2x2, f32>
  %16 = insert %15, %3, 1 : mat<2x2, f32>
  store %13, %16
  %17 = atomic_add %6, %7 : i32
  %18 = lt %17, %5 : bool
  %19 = add %17, %9 : i32
  %20 = select %18, %19, %17 : i32
  %21 = elem %0, %20 : ref<mat<2x2, f32>>
  %22 = load %21 : mat<2x2, f32>
  %23 = extract %22, 0 : f32
  %24 = extract %22, 2 : f32
  %25 = construct %23, %24 : vec<2, f32>
  %26 = add %25, %4 : vec<2, f32>
  %27 = load %21 : mat<2x2, f32>
  %28 = extract %26, 0 : f32
  %29 = insert %27, %28, 0 : mat<2x2, f32>
  %30 = extract %26, 1 : f32
  %31 = insert %29, %30, 2 : mat<2x2, f32>
  store %21, %31
  return
}

;; kernel read_first
func @poke(%0 v: array<vec<3, f32>, 1>) -> (f32) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<vec<3, f32>>
  %3 = const 1 : i32
  %4 = comp %2, %3 : ref<f32>
  %5 = const 50.0 : f32
  store %4, %5
  %6 = const 4.0 : f32
  return %6
}

kernel @read_first(%0 v: array<vec<3, f32>, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<vec<3, f32>>
  %3 = const 1 : i32
  %4 = comp %2, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = call @poke(%0) : f32
  %7 = add %5, %6 : f32
  store %4, %7
  %8 = load %2 : vec<3, f32>
  %9 = call @poke(%0) : f32
  %10 = construct %9, %9, %9 : vec<3, f32>
  %11 = mul %8, %10 : vec<3, f32>
  %12 = elem %0, %3 : ref<vec<3, f32>>
  store %12, %11
  return
}
