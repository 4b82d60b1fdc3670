;; kernel forms
kernel @forms(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 1 : i32
  %3 = add %0, %2 : i32
  %4 = const 0 : i32
  %5 = elem %1, %4 : ref<i32>
  %6 = const 3 : i32
  store %5, %6
  %7 = elem %1, %2 : ref<i32>
  store %7, %6
  %8 = add %3, %3 : i32
  %9 = add %8, %0 : i32
  %10 = const 7 : i32
  %11 = add %9, %10 : i32
  %12 = add %11, %0 : i32
  %13 = const 4 : i32
  %14 = const 9 : i32
  %15 = add %12, %14 : i32
  %16 = add %15, %3 : i32
  %17 = const 2 : i32
  %18 = elem %1, %17 : ref<i32>
  store %18, %16
  %19 = elem %1, %13 : ref<i32>
  %20 = load %19 : i32
  %21 = elem %1, %6 : ref<i32>
  %22 = load %21 : i32
  store %21, %20
  store %19, %22
  return
}
