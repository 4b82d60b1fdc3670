;; kernel numbers
kernel @numbers(%0 n: i32, %1 f: f32, %2 u: u32, %3 s: u8, %4 l: i64, %5 out: array<bool, 1>) {
  %6 = const 1 : i32
  %7 = eq %0, %6 : bool
  %8 = const 0 : i32
  %9 = elem %5, %8 : ref<bool>
  store %9, %7
  %10 = cast %0 : f32
  %11 = const 1.0 : f32
  %12 = lt %10, %11 : bool
  %13 = elem %5, %6 : ref<bool>
  store %13, %12
  %14 = ge %1, %11 : bool
  %15 = const 2 : i32
  %16 = elem %5, %15 : ref<bool>
  store %16, %14
  %17 = const 4294967295 : u32
  %18 = gt %2, %17 : bool
  %19 = const 3 : i32
  %20 = elem %5, %19 : ref<bool>
  store %20, %18
  %21 = cast %3 : i32
  %22 = const 300 : i32
  %23 = lt %21, %22 : bool
  %24 = const 4 : i32
  %25 = elem %5, %24 : ref<bool>
  store %25, %23
  %26 = cast %0 : i64
  %27 = lt %26, %4 : bool
  %28 = const 5 : i32
  %29 = elem %5, %28 : ref<bool>
  store %29, %27
  %30 = const 5000000000 : i64
  %31 = eq %4, %30 : bool
  %32 = const 6 : i32
  %33 = elem %5, %32 : ref<bool>
  store %33, %31
  %34 = const false : bool
  %35 = const 7 : i32
  %36 = elem %5, %35 : ref<bool>
  store %36, %34
  return
}

;; kernel composites
kernel @composites(%0 v: vec<2, f32>, %1 m: mat<2x2, f32>, %2 out: array<bool, 1>) {
  %3 = const 2.0 : f32
  %4 = construct %3, %3 : vec<2, f32>
  %5 = mul %0, %4 : vec<2, f32>
  %6 = extract %0, 0 : f32
  %7 = extract %5, 0 : f32
  %8 = eq %6, %7 : bool
  %9 = extract %0, 1 : f32
  %10 = extract %5, 1 : f32
  %11 = eq %9, %10 : bool
  %12 = and %8, %11 : bool
  %13 = const 0 : i32
  %14 = elem %2, %13 : ref<bool>
  store %14, %12
  %15 = not %12 : bool
  %16 = const 1 : i32
  %17 = elem %2, %16 : ref<bool>
  store %17, %15
  %18 = construct %3, %3, %3, %3 : mat<2x2, f32>
  %19 = mul %1, %18 : mat<2x2, f32>
  %20 = extract %1, 0 : f32
  %21 = extract %19, 0 : f32
  %22 = eq %20, %21 : bool
  %23 = extract %1, 1 : f32
  %24 = extract %19, 1 : f32
  %25 = eq %23, %24 : bool
  %26 = and %22, %25 : bool
  %27 = extract %1, 2 : f32
  %28 = extract %19, 2 : f32
  %29 = eq %27, %28 : bool
  %30 = and %26, %29 : bool
  %31 = extract %1, 3 : f32
  %32 = extract %19, 3 : f32
  %33 = eq %31, %32 : bool
  %34 = and %30, %33 : bool
  %35 = const 2 : i32
  %36 = elem %2, %35 : ref<bool>
  store %36, %34
  return
}

;; kernel chained
kernel @chained(%0 a: array<i32, 1>, %1 n: i32, %2 out: array<bool, 1>) {
  %3 = const 0 : i32
  %4 = gt %1, %3 : bool
  %5 = const 10 : i32
  %6 = lt %1, %5 : bool
  %7 = and %4, %6 : bool
  %8 = elem %2, %3 : ref<bool>
  store %8, %7
  %9 = elem %0, %3 : ref<i32>
  %10 = load %9 : i32
  %11 = gt %10, %3 : bool
  %12 = if %11 -> (bool) {
    %13 = const 1 : i32
    %14 = elem %0, %13 : ref<i32>
    %15 = load %14 : i32
    %16 = lt %10, %15 : bool
    %17 = le %15, %1 : bool
    %18 = and %16, %17 : bool
    yield %18
  } else {
    %19 = const false : bool
    yield %19
  }
  %20 = const 1 : i32
  %21 = elem %2, %20 : ref<bool>
  store %21, %12
  return
}
