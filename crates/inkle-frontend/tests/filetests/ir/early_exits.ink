;; kernel guards
kernel @guards(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = tid 0 : i32
  %3 = ge %2, %0 : bool
  if %3 {
    yield
  } else {
    %4 = const 3 : i32
    %5 = eq %2, %4 : bool
    if %5 {
      %6 = elem %1, %2 : ref<i32>
      %7 = const 1 : i32
      store %6, %7
      yield
    } else {
      %8 = elem %1, %2 : ref<i32>
      %9 = const 2 : i32
      store %8, %9
      yield
    }
    yield
  }
  return
}

;; kernel nested
kernel @nested(%0 n: i32, %1 m: i32, %2 out: array<i32, 1>) {
  %3 = const 0 : i32
  %4 = gt %0, %3 : bool
  %5, %6 = if %4 -> (bool, i32) {
    %7 = gt %1, %3 : bool
    %8, %9 = if %7 -> (bool, i32) {
      %10 = gt %0, %1 : bool
      %11, %12 = if %10 -> (bool, i32) {
        %13 = const true : bool
        %14 = const 1 : i32
        yield %13, %14
      } else {
        %15 = const false : bool
        %16 = const 2 : i32
        yield %15, %16
      }
      yield %11, %12
    } else {
      %17 = const false : bool
      yield %17, %3
    }
    %18, %19 = if %8 -> (bool, i32) {
      yield %8, %9
    } else {
      %20 = const 10 : i32
      %21 = add %9, %20 : i32
      %22 = const false : bool
      yield %22, %21
    }
    yield %18, %19
  } else {
    %23 = const false : bool
    yield %23, %3
  }
  if %5 {
    yield
  } else {
    %24 = elem %2, %3 : ref<i32>
    store %24, %6
    yield
  }
  return
}

;; kernel loop_return
kernel @loop_return(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const false : bool
  %5, %6 = while carry(%7: i32 = %2, %8: bool = %4) -> (i32, bool) {
    %9 = lt %7, %0 : bool
    %10 = not %8 : bool
    %11 = and %10, %9 : bool
    yield %11
  } do(%12: i32, %13: bool) {
    %14 = add %12, %3 : i32
    %15 = elem %1, %12 : ref<i32>
    %16 = load %15 : i32
    %17 = const 7 : i32
    %18 = eq %16, %17 : bool
    %19 = if %18 -> (bool) {
      %20 = const true : bool
      yield %20
    } else {
      store %15, %12
      yield %4
    }
    yield %14, %19
  }
  if %6 {
    yield
  } else {
    %21 = elem %1, %2 : ref<i32>
    %22 = const 99 : i32
    store %21, %22
    yield
  }
  return
}

;; kernel break_continue
kernel @break_continue(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const false : bool
  %5, %6, %7 = while carry(%8: i32 = %2, %9: i32 = %2, %10: bool = %4) -> (i32, i32, bool) {
    %11 = lt %9, %0 : bool
    %12 = not %10 : bool
    %13 = and %12, %11 : bool
    yield %13
  } do(%14: i32, %15: i32, %16: bool) {
    %17 = add %15, %3 : i32
    %18 = const 2 : i32
    %19 = eq %15, %18 : bool
    %20, %21 = if %19 -> (i32, bool) {
      yield %14, %4
    } else {
      %22 = const 5 : i32
      %23 = eq %15, %22 : bool
      %24, %25 = if %23 -> (i32, bool) {
        %26 = const true : bool
        yield %14, %26
      } else {
        %27 = add %14, %15 : i32
        yield %27, %4
      }
      yield %24, %25
    }
    yield %20, %17, %21
  }
  %28 = elem %1, %2 : ref<i32>
  store %28, %5
  return
}

;; kernel skip
kernel @skip(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  for %4: i32 = %2, %0, %3 {
    %5 = const 2 : i32
    %6 = eq %4, %5 : bool
    if %6 {
      yield
    } else {
      %7 = elem %1, %4 : ref<i32>
      store %7, %3
      yield
    }
    yield
  }
  return
}
