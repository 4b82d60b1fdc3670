;; kernel constant
kernel @constant(%0 out: array<i32, 1>) {
  %1 = const 8 : i32
  %2 = elem %0, %1 : ref<i32>
  store %2, %1
  %3 = const 5 : i32
  %4 = elem %0, %3 : ref<i32>
  store %4, %3
  %5 = const 2 : i32
  %6 = elem %0, %5 : ref<i32>
  store %6, %5
  return
}

;; kernel dynamic
kernel @dynamic(%0 n: i32, %1 step: i32, %2 out: array<i32, 1>) {
  %3 = const 0 : i32
  %4 = sub %3, %0 : i32
  %5 = const -1 : i32
  %6 = sub %5, %4 : i32
  for %7: i32 = %6, %5, %5 {
    %8 = shape %2, 0 : i32
    %9 = lt %7, %3 : bool
    %10 = add %7, %8 : i32
    %11 = select %9, %10, %7 : i32
    %12 = elem %2, %11 : ref<i32>
    store %12, %7
    yield
  }
  %13 = const 100 : i32
  %14 = sub %0, %13 : i32
  %15 = floordiv %14, %1 : i32
  %16 = mul %15, %1 : i32
  %17 = sub %0, %1 : i32
  %18 = sub %17, %16 : i32
  %19 = neg %1 : i32
  for %20: i32 = %18, %17, %19 {
    %21 = shape %2, 0 : i32
    %22 = lt %20, %3 : bool
    %23 = add %20, %21 : i32
    %24 = select %22, %23, %20 : i32
    %25 = elem %2, %24 : ref<i32>
    store %25, %20
    yield
  }
  return
}
