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
    %9 = if %8 -> (bool) {
      yield %4
    } else {
      %10 = lt %7, %0 : bool
      yield %10
    }
    yield %9
  } do(%11: i32, %12: bool) {
    %13 = add %11, %3 : i32
    %14 = elem %1, %11 : ref<i32>
    %15 = load %14 : i32
    %16 = const 7 : i32
    %17 = eq %15, %16 : bool
    %18 = if %17 -> (bool) {
      %19 = const true : bool
      yield %19
    } else {
      store %14, %11
      yield %4
    }
    yield %13, %18
  }
  if %6 {
    yield
  } else {
    %20 = elem %1, %2 : ref<i32>
    %21 = const 99 : i32
    store %20, %21
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
    %11 = if %10 -> (bool) {
      yield %4
    } else {
      %12 = lt %9, %0 : bool
      yield %12
    }
    yield %11
  } do(%13: i32, %14: i32, %15: bool) {
    %16 = add %14, %3 : i32
    %17 = const 2 : i32
    %18 = eq %14, %17 : bool
    %19, %20 = if %18 -> (i32, bool) {
      yield %13, %4
    } else {
      %21 = const 5 : i32
      %22 = eq %14, %21 : bool
      %23, %24 = if %22 -> (i32, bool) {
        %25 = const true : bool
        yield %13, %25
      } else {
        %26 = add %13, %14 : i32
        yield %26, %4
      }
      yield %23, %24
    }
    yield %19, %16, %20
  }
  %27 = elem %1, %2 : ref<i32>
  store %27, %5
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
