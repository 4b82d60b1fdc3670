;; kernel views
kernel @views(%0 a: array<f32, 3>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = shape %0, 1 : i32
  %4 = lt %1, %2 : bool
  %5 = add %1, %3 : i32
  %6 = select %4, %5, %1 : i32
  %7 = const 1 : i32
  %8 = elem %0, %2, %6, %7 : ref<f32>
  %9 = const 2.0 : f32
  store %8, %9
  %10 = shape %0, 0 : i32
  %11 = add %1, %10 : i32
  %12 = select %4, %11, %1 : i32
  %13 = elem %0, %2, %6, %2 : ref<f32>
  %14 = load %13 : f32
  %15 = elem %0, %12, %2, %7 : ref<f32>
  store %15, %14
  %16 = const 2 : i32
  %17 = elem %0, %2, %7, %16 : ref<f32>
  %18 = const 3.0 : f32
  store %17, %18
  %19 = const 4.0 : f32
  %20 = atomic_add %17, %19 : f32
  return
}

;; kernel negative
kernel @negative(%0 a: array<f32, 1>, %1 n: i32, %2 u: u32) {
  %3 = const -1 : i32
  %4 = shape %0, 0 : i32
  %5 = const 0 : i32
  %6 = add %4, %3 : i32
  %7 = elem %0, %6 : ref<f32>
  %8 = const 1.0 : f32
  store %7, %8
  %9 = lt %1, %5 : bool
  %10 = add %1, %4 : i32
  %11 = select %9, %10, %1 : i32
  %12 = elem %0, %11 : ref<f32>
  %13 = const 2.0 : f32
  store %12, %13
  %14 = cast %2 : i64
  %15 = elem %0, %14 : ref<f32>
  %16 = const 3.0 : f32
  store %15, %16
  %17 = tid 0 : i32
  %18 = const 1 : i32
  %19 = sub %17, %18 : i32
  %20 = lt %19, %5 : bool
  %21 = add %19, %4 : i32
  %22 = select %20, %21, %19 : i32
  %23 = elem %0, %22 : ref<f32>
  %24 = const 4.0 : f32
  store %23, %24
  %25 = const 100 : i32
  for %26: i32 = %5, %25, %18 {
    %27 = add %26, %18 : i32
    %28 = elem %0, %27 : ref<f32>
    %29 = const 5.0 : f32
    store %28, %29
    yield
  }
  for %30: i32 = %1, %25, %18 {
    %31 = lt %30, %5 : bool
    %32 = add %30, %4 : i32
    %33 = select %31, %32, %30 : i32
    %34 = elem %0, %33 : ref<f32>
    %35 = const 6.0 : f32
    store %34, %35
    yield
  }
  return
}

;; kernel attributes
kernel @attributes(%0 a: array<f32, 2>, %1 n: i32, %2 out: array<i32, 1>) {
  %3 = shape %0, 0 : i32
  %4 = shape %0, 1 : i32
  %5 = const 0 : i32
  %6 = elem %2, %5 : ref<i32>
  store %6, %3
  %7 = const 2 : i32
  %8 = lt %1, %5 : bool
  %9 = add %1, %7 : i32
  %10 = select %8, %9, %1 : i32
  %11 = const 1 : i32
  %12 = eq %10, %11 : bool
  %13 = select %12, %4, %3 : i32
  %14 = elem %2, %11 : ref<i32>
  store %14, %13
  %15 = elem %2, %7 : ref<i32>
  store %15, %3
  %16 = const 3 : i32
  %17 = elem %2, %16 : ref<i32>
  store %17, %7
  %18 = mul %3, %4 : i32
  %19 = const 4 : i32
  %20 = elem %2, %19 : ref<i32>
  store %20, %18
  %21 = const 5 : i32
  %22 = elem %2, %21 : ref<i32>
  store %22, %18
  return
}

;; kernel atomics
kernel @atomics(%0 a: array<f32, 2>, %1 b: array<i32, 1>, %2 v: array<vec<3, f32>, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = elem %0, %3, %4 : ref<f32>
  %6 = const 1.0 : f32
  %7 = atomic_add %5, %6 : f32
  %8 = atomic_sub %5, %6 : f32
  %9 = load %5 : f32
  %10 = const 2.0 : f32
  %11 = mul %9, %10 : f32
  store %5, %11
  %12 = elem %1, %3 : ref<i32>
  %13 = atomic_add %12, %4 : i32
  %14 = const 2 : i32
  %15 = atomic_or %12, %14 : i32
  %16 = load %12 : i32
  %17 = shl %16, %4 : i32
  store %12, %17
  %18 = elem %2, %3 : ref<vec<3, f32>>
  %19 = const 3.0 : f32
  %20 = construct %6, %10, %19 : vec<3, f32>
  %21 = atomic_add %18, %20 : vec<3, f32>
  %22 = atomic_add %5, %6 : f32
  %23 = elem %0, %4, %4 : ref<f32>
  %24 = atomic_max %23, %22 : f32
  %25 = elem %0, %3, %3 : ref<f32>
  store %25, %24
  %26 = atomic_cas %12, %4, %14 : i32
  %27 = elem %1, %4 : ref<i32>
  store %27, %26
  %28 = const 7 : i32
  %29 = atomic_exch %12, %28 : i32
  %30 = elem %1, %14 : ref<i32>
  store %30, %29
  return
}
