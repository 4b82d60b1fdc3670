;; kernel guarded
kernel @guarded(%0 n: i32, %1 out: array<f32, 1>) {
  %2 = const 0.0 : f32
  %3 = const 2 : i32
  %4 = gt %0, %3 : bool
  %5, %6 = if %4 -> (f32, bool) {
    %7 = cast %0 : f32
    %8 = const true : bool
    yield %7, %8
  } else {
    %9 = const false : bool
    yield %2, %9
  }
  %10 = const 4 : i32
  %11 = gt %0, %10 : bool
  if %11 {
    assert %6, "variable `x` is read before it is set"
    %12 = const 0 : i32
    %13 = elem %1, %12 : ref<f32>
    store %13, %5
    yield
  } else {
    yield
  }
  return
}

;; kernel carried
kernel @carried(%0 n: i32, %1 out: array<f32, 1>) {
  %2 = const 0.0 : f32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const false : bool
  %6, %7 = for %8: i32 = %3, %0, %4 carry(%9: f32 = %2, %10: bool = %5) -> (f32, bool) {
    %11 = const 2 : i32
    %12 = eq %8, %11 : bool
    %13, %14 = if %12 -> (f32, bool) {
      %15 = cast %8 : f32
      %16 = const true : bool
      yield %15, %16
    } else {
      yield %9, %10
    }
    %17 = gt %8, %11 : bool
    if %17 {
      assert %14, "variable `x` is read before it is set"
      %18 = elem %1, %8 : ref<f32>
      store %18, %13
      yield
    } else {
      yield
    }
    yield %13, %14
  }
  return
}
