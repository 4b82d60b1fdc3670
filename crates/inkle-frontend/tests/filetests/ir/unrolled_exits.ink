;; kernel static_index
kernel @static_index(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = elem %1, %2 : ref<i32>
  %5 = load %4 : i32
  %6 = lt %5, %2 : bool
  %7 = if %6 -> (bool) {
    %8 = const true : bool
    yield %8
  } else {
    %9 = load %4 : i32
    %10 = eq %9, %0 : bool
    if %10 {
      yield
    } else {
      %11 = const 11 : i32
      store %4, %11
      yield
    }
    %12 = const false : bool
    yield %12
  }
  if %7 {
    yield
  } else {
    %13 = elem %1, %3 : ref<i32>
    %14 = load %13 : i32
    %15 = lt %14, %2 : bool
    %16 = if %15 -> (bool) {
      %17 = const true : bool
      yield %17
    } else {
      %18 = load %13 : i32
      %19 = eq %18, %0 : bool
      if %19 {
        yield
      } else {
        %20 = const 22 : i32
        store %13, %20
        yield
      }
      %21 = const false : bool
      yield %21
    }
    if %16 {
      yield
    } else {
      %22 = const 2 : i32
      %23 = elem %1, %22 : ref<i32>
      %24 = load %23 : i32
      %25 = lt %24, %2 : bool
      if %25 {
        yield
      } else {
        %26 = load %23 : i32
        %27 = eq %26, %0 : bool
        if %27 {
          yield
        } else {
          %28 = const 33 : i32
          store %23, %28
          yield
        }
        yield
      }
      yield
    }
    yield
  }
  return
}
