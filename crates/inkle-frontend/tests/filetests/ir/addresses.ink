;; kernel addresses
kernel @addresses(%0 a: array<vec<3, f32>, 2>, %1 n: i32, %2 out: array<u64, 1>) {
  %3 = local 1 : array<i32, 1>
  %4 = const 0 : i32
  %5 = elem %3, %4 : ref<i32>
  store %5, %1
  %6 = tid 0 : i32
  %7 = cast %6 : f32
  %8 = local 1 : array<f32, 1>
  %9 = elem %8, %4 : ref<f32>
  store %9, %7
  %10 = address %9 : u64
  %11 = elem %2, %4 : ref<u64>
  store %11, %10
  %12 = const 1.0 : f32
  %13 = atomic_add %9, %12 : f32
  %14 = const 2 : i32
  %15 = elem %0, %6, %14 : ref<vec<3, f32>>
  %16 = const 1 : i32
  %17 = comp %15, %16 : ref<f32>
  %18 = address %17 : u64
  %19 = elem %2, %16 : ref<u64>
  store %19, %18
  %20 = load %5 : i32
  %21 = const 3 : i32
  %22 = gt %20, %21 : bool
  %23 = local 1 : array<vec<3, f32>, 1>
  %24 = elem %23, %4 : ref<vec<3, f32>>
  if %22 {
    %25 = load %9 : f32
    %26 = construct %25, %25, %25 : vec<3, f32>
    store %24, %26
    %27 = load %5 : i32
    %28 = lt %27, %4 : bool
    %29 = add %27, %21 : i32
    %30 = select %28, %29, %27 : i32
    %31 = comp %24, %30 : ref<f32>
    %32 = address %31 : u64
    %33 = elem %2, %14 : ref<u64>
    store %33, %32
    yield
  } else {
    yield
  }
  %34 = address %5 : u64
  %35 = elem %2, %21 : ref<u64>
  store %35, %34
  return
}
