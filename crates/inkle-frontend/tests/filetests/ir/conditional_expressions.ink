;; kernel cheap
kernel @cheap(%0 n: i32, %1 a: f32, %2 out: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = gt %0, %3 : bool
  %5 = neg %1 : f32
  %6 = select %4, %1, %5 : f32
  %7 = elem %2, %3 : ref<f32>
  store %7, %6
  %8 = ne %0, %3 : bool
  %9 = const 1.0 : f32
  %10 = const 2.0 : f32
  %11 = select %8, %9, %10 : f32
  %12 = const 1 : i32
  %13 = elem %2, %12 : ref<f32>
  store %13, %11
  %14 = const 0.0 : f32
  %15 = select %4, %1, %14 : f32
  %16 = const 2 : i32
  %17 = elem %2, %16 : ref<f32>
  store %17, %15
  return
}

;; kernel lazy
kernel @lazy(%0 a: array<f32, 1>, %1 i: i32, %2 out: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = ge %1, %3 : bool
  %5 = if %4 -> (f32) {
    %6 = shape %0, 0 : i32
    %7 = lt %1, %3 : bool
    %8 = add %1, %6 : i32
    %9 = select %7, %8, %1 : i32
    %10 = elem %0, %9 : ref<f32>
    %11 = load %10 : f32
    yield %11
  } else {
    %12 = const 0.0 : f32
    yield %12
  }
  %13 = elem %2, %3 : ref<f32>
  store %13, %5
  %14 = if %4 -> (f32) {
    %15 = shape %0, 0 : i32
    %16 = lt %1, %3 : bool
    %17 = add %1, %15 : i32
    %18 = select %16, %17, %1 : i32
    %19 = elem %0, %18 : ref<f32>
    %20 = load %19 : f32
    yield %20
  } else {
    %21 = address %0 : u64
    %22 = const 0 : u64
    %23 = ne %21, %22 : bool
    %24 = if %23 -> (f32) {
      %25 = elem %0, %3 : ref<f32>
      %26 = load %25 : f32
      yield %26
    } else {
      %27 = const 1.0 : f32
      yield %27
    }
    yield %24
  }
  %28 = const 1 : i32
  %29 = elem %2, %28 : ref<f32>
  store %29, %14
  return
}
