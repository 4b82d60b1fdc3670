;; kernel local
func @total(%0 a: array<f32, 1>) -> (f32) {
  %1 = shape %0, 0 : i32
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const 0.0 : f32
  %5 = for %6: i32 = %2, %1, %3 carry(%7: f32 = %4) -> (f32) {
    %8 = elem %0, %6 : ref<f32>
    %9 = load %8 : f32
    %10 = add %7, %9 : f32
    yield %10
  }
  return %5
}

func @pair(%0 x: f32) -> (array<f32, 1>) {
  %1 = local 2 : array<f32, 1>
  %2 = const 1 : i32
  %3 = elem %1, %2 : ref<f32>
  store %3, %0
  return %1
}

kernel @local(%0 n: i32, %1 x: f32, %2 p: u64, %3 out: array<f32, 1>) {
  %4 = local 4 : array<f32, 1>
  %5 = const 4 : i32
  %6 = const 0 : i32
  %7 = lt %0, %6 : bool
  %8 = add %0, %5 : i32
  %9 = select %7, %8, %0 : i32
  %10 = elem %4, %9 : ref<f32>
  store %10, %1
  %11 = const 3 : i32
  %12 = elem %4, %11 : ref<f32>
  %13 = atomic_add %12, %1 : f32
  %14 = call @total(%4) : f32
  %15 = elem %3, %6 : ref<f32>
  store %15, %14
  %16 = local 2, 3 : array<vec<2, f32>, 2>
  %17 = const 1 : i32
  %18 = construct %1, %1 : vec<2, f32>
  %19 = const 2 : i32
  %20 = elem %16, %17, %19 : ref<vec<2, f32>>
  store %20, %18
  %21 = comp %20, %6 : ref<f32>
  %22 = load %21 : f32
  %23 = elem %3, %17 : ref<f32>
  store %23, %22
  %24 = const 6.0 : f32
  %25 = elem %3, %19 : ref<f32>
  store %25, %24
  %26 = call @pair(%1) : array<f32, 1>
  %27 = elem %26, %17 : ref<f32>
  %28 = load %27 : f32
  %29 = elem %3, %11 : ref<f32>
  store %29, %28
  %30 = array_at %2, %0, %19 : array<i64, 2>
  %31 = elem %30, %6, %17 : ref<i64>
  %32 = const 7 : i64
  store %31, %32
  return
}
