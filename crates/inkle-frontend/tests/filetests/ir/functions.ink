;; kernel calls
func @square(%0 x: f32) -> (f32) {
  %1 = mul %0, %0 : f32
  return %1
}

func @hypot(%0 x: f32, %1 y: f32, %2 scale: f32) -> (f32) {
  %3 = call @square(%0) : f32
  %4 = call @square(%1) : f32
  %5 = add %3, %4 : f32
  %6 = sqrt %5 : f32
  %7 = mul %6, %2 : f32
  return %7
}

func @square.2(%0 x: i32) -> (i32) {
  %1 = mul %0, %0 : i32
  return %1
}

func @both(%0 x: f32) -> (f32, i32) {
  %1 = cast %0 : i32
  return %0, %1
}

func @clear(%0 a: array<f32, 1>, %1 i: i32) {
  %2 = const 0 : i32
  %3 = lt %1, %2 : bool
  if %3 {
    yield
  } else {
    %4 = shape %0, 0 : i32
    %5 = add %1, %4 : i32
    %6 = select %3, %5, %1 : i32
    %7 = elem %0, %6 : ref<f32>
    %8 = const 0.0 : f32
    store %7, %8
    yield
  }
  return
}

func @early(%0 x: f32) -> (f32) {
  %1 = const 1.0 : f32
  %2 = gt %0, %1 : bool
  %3 = if %2 -> (f32) {
    yield %1
  } else {
    %4 = const 0.5 : f32
    %5 = gt %0, %4 : bool
    %6 = if %5 -> (f32) {
      %7 = const 2.0 : f32
      %8 = mul %0, %7 : f32
      yield %8
    } else {
      %9 = add %0, %1 : f32
      yield %9
    }
    yield %6
  }
  return %3
}

func @apply(%0 x: f32) -> (f32) {
  %1 = call @early(%0) : f32
  return %1
}

kernel @calls(%0 x: f32, %1 n: i32, %2 out: array<f32, 1>) {
  %3 = const 1.0 : f32
  %4 = const 2.0 : f32
  %5 = call @hypot(%0, %3, %4) : f32
  %6 = const 0 : i32
  %7 = elem %2, %6 : ref<f32>
  store %7, %5
  %8 = call @hypot(%4, %0, %0) : f32
  %9 = const 1 : i32
  %10 = elem %2, %9 : ref<f32>
  store %10, %8
  %11 = call @square.2(%1) : i32
  %12 = cast %11 : f32
  %13 = const 2 : i32
  %14 = elem %2, %13 : ref<f32>
  store %14, %12
  %15, %16 = call @both(%0) : f32, i32
  %17 = cast %16 : f32
  %18 = add %15, %17 : f32
  %19 = const 3 : i32
  %20 = elem %2, %19 : ref<f32>
  store %20, %18
  %21 = const 4 : i32
  call @clear(%2, %21)
  %22 = call @early(%0) : f32
  %23 = const 5 : i32
  %24 = elem %2, %23 : ref<f32>
  store %24, %22
  %25 = call @square(%0) : f32
  %26 = const 6 : i32
  %27 = elem %2, %26 : ref<f32>
  store %27, %25
  %28 = call @apply(%0) : f32
  %29 = const 7 : i32
  %30 = elem %2, %29 : ref<f32>
  store %30, %28
  %31 = add %25, %25 : f32
  %32 = const 8 : i32
  %33 = elem %2, %32 : ref<f32>
  store %33, %31
  return
}
