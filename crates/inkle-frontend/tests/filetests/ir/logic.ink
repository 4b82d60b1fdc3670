;; kernel cheap
kernel @cheap(%0 a: i32, %1 b: f32, %2 out: array<bool, 1>) {
  %3 = const 0 : i32
  %4 = gt %0, %3 : bool
  %5 = const 0.0 : f32
  %6 = gt %1, %5 : bool
  %7 = and %4, %6 : bool
  %8 = elem %2, %3 : ref<bool>
  store %8, %7
  %9 = ne %0, %3 : bool
  %10 = ne %1, %5 : bool
  %11 = or %9, %10 : bool
  %12 = const 1 : i32
  %13 = elem %2, %12 : ref<bool>
  store %13, %11
  %14 = eq %0, %3 : bool
  %15 = const 2 : i32
  %16 = elem %2, %15 : ref<bool>
  store %16, %14
  %17 = const 1.0 : f32
  %18 = lt %1, %17 : bool
  %19 = and %4, %18 : bool
  %20 = const 3 : i32
  %21 = eq %0, %20 : bool
  %22 = or %19, %21 : bool
  %23 = elem %2, %20 : ref<bool>
  store %23, %22
  return
}

;; kernel short_circuit
func @tick(%0 counter: array<i32, 1>, %1 answer: bool) -> (bool) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<i32>
  %4 = load %3 : i32
  %5 = const 1 : i32
  %6 = add %4, %5 : i32
  store %3, %6
  return %1
}

kernel @short_circuit(%0 flag: bool, %1 counter: array<i32, 1>, %2 out: array<bool, 1>) {
  %3 = if %0 -> (bool) {
    %4 = const true : bool
    %5 = call @tick(%1, %4) : bool
    yield %5
  } else {
    %6 = const false : bool
    yield %6
  }
  %7 = const 0 : i32
  %8 = elem %2, %7 : ref<bool>
  store %8, %3
  %9 = if %0 -> (bool) {
    %10 = const true : bool
    yield %10
  } else {
    %11 = const false : bool
    %12 = call @tick(%1, %11) : bool
    yield %12
  }
  %13 = const 1 : i32
  %14 = elem %2, %13 : ref<bool>
  store %14, %9
  %15 = if %0 -> (bool) {
    %16 = elem %1, %13 : ref<i32>
    %17 = load %16 : i32
    %18 = const 3 : i32
    %19 = eq %17, %18 : bool
    %20 = if %19 -> (bool) {
      %21 = const true : bool
      %22 = call @tick(%1, %21) : bool
      yield %22
    } else {
      %23 = const false : bool
      yield %23
    }
    yield %20
  } else {
    %24 = const false : bool
    yield %24
  }
  %25 = const 2 : i32
  %26 = elem %2, %25 : ref<bool>
  store %26, %15
  return
}

;; kernel missing_array
kernel @missing_array(%0 a: array<i32, 1>, %1 i: i32, %2 out: array<i32, 1>) {
  %3 = address %0 : u64
  %4 = const 0 : u64
  %5 = ne %3, %4 : bool
  %6 = if %5 -> (bool) {
    %7 = const 0 : i32
    %8 = ge %1, %7 : bool
    %9 = if %8 -> (bool) {
      %10 = shape %0, 0 : i32
      %11 = lt %1, %7 : bool
      %12 = add %1, %10 : i32
      %13 = select %11, %12, %1 : i32
      %14 = elem %0, %13 : ref<i32>
      %15 = load %14 : i32
      %16 = const 3 : i32
      %17 = eq %15, %16 : bool
      yield %17
    } else {
      %18 = const false : bool
      yield %18
    }
    yield %9
  } else {
    %19 = const false : bool
    yield %19
  }
  if %6 {
    %20 = const 0 : i32
    %21 = elem %2, %20 : ref<i32>
    %22 = const 1 : i32
    store %21, %22
    yield
  } else {
    yield
  }
  %23 = eq %3, %4 : bool
  if %23 {
    %24 = const 1 : i32
    %25 = elem %2, %24 : ref<i32>
    %26 = const 2 : i32
    store %25, %26
    yield
  } else {
    yield
  }
  return
}
