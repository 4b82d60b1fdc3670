;; kernel parameters
kernel @parameters(%0 n: i32, %1 v: vec<3, f32>, %2 out: array<f32, 1>) {
  %3 = const 2 : i32
  %4 = add %0, %3 : i32
  %5 = const 2.0 : f32
  %6 = construct %5, %5, %5 : vec<3, f32>
  %7 = mul %1, %6 : vec<3, f32>
  %8 = const 0.5 : f32
  %9 = cast %4 : f32
  %10 = extract %7, 0 : f32
  %11 = add %9, %10 : f32
  %12 = add %11, %8 : f32
  %13 = const 0 : i32
  %14 = elem %2, %13 : ref<f32>
  store %14, %12
  return
}

;; kernel branches
kernel @branches(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 2 : i32
  %3 = gt %0, %2 : bool
  %4, %5, %6 = if %3 -> (bool, i32, i32) {
    %7 = const false : bool
    %8 = const 1 : i32
    yield %7, %8, %0
  } else {
    %9 = const 1 : i32
    %10 = gt %0, %9 : bool
    %11, %12 = if %10 -> (bool, i32) {
      %13 = neg %0 : i32
      %14 = const false : bool
      yield %14, %13
    } else {
      %15 = const true : bool
      %16 = const 0 : i32
      yield %15, %16
    }
    yield %11, %2, %12
  }
  if %4 {
    yield
  } else {
    %17 = add %5, %6 : i32
    %18 = const 0 : i32
    %19 = elem %1, %18 : ref<i32>
    store %19, %17
    %20 = const 5 : i32
    %21 = gt %0, %20 : bool
    if %21 {
      %22 = const 1 : i32
      %23 = elem %1, %22 : ref<i32>
      store %23, %22
      yield
    } else {
      yield
    }
    yield
  }
  return
}

;; kernel digits
kernel @digits(%0 out: array<f64, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<f64>
  %3 = const 0.1 : f64
  store %2, %3
  %4 = const 0.30000001192092896 : f64
  %5 = const 1 : i32
  %6 = elem %0, %5 : ref<f64>
  store %6, %4
  %7 = const 2 : i32
  %8 = elem %0, %7 : ref<f64>
  store %8, %3
  return
}
