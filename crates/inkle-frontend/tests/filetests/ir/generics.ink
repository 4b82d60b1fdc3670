;; kernel uses
func @plus_one(%0 v: f32) -> (f32) {
  %1 = const 1.0 : f32
  %2 = add %0, %1 : f32
  return %2
}

func @plus_one.2(%0 v: i32) -> (i32) {
  %1 = const 1 : i32
  %2 = add %0, %1 : i32
  return %2
}

func @total(%0 a: array<f32, 1>, %1 n: i32) -> (f32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const 0.0 : f32
  %5 = for %6: i32 = %2, %1, %3 carry(%7: f32 = %4) -> (f32) {
    %8 = elem %0, %6 : ref<f32>
    %9 = load %8 : f32
    %10 = add %7, %9 : f32
    yield %10
  }
  return %5
}

func @total.2(%0 a: array<i32, 1>, %1 n: i32) -> (i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = for %5: i32 = %2, %1, %3 carry(%6: i32 = %2) -> (i32) {
    %7 = elem %0, %5 : ref<i32>
    %8 = load %7 : i32
    %9 = add %6, %8 : i32
    yield %9
  }
  return %4
}

func @kind(%0 x: f32) -> (i32) {
  %1 = const 1 : i32
  return %1
}

func @kind.2(%0 x: i32) -> (i32) {
  %1 = const 2 : i32
  return %1
}

func @kind.3(%0 x: vec<3, f32>) -> (i32) {
  %1 = const 3 : i32
  return %1
}

func @first(%0 pair_0: i32, %1 pair_1: i32, %2 pair_2: i32) -> (i32) {
  %3 = add %0, %2 : i32
  return %3
}

kernel @uses(%0 a: array<f32, 1>, %1 b: array<i32, 1>, %2 out: array<f32, 1>, %3 iout: array<i32, 1>) {
  %4 = const 2.0 : f32
  %5 = call @plus_one(%4) : f32
  %6 = const 0 : i32
  %7 = elem %0, %6 : ref<f32>
  %8 = load %7 : f32
  %9 = call @plus_one(%8) : f32
  %10 = add %5, %9 : f32
  %11 = elem %2, %6 : ref<f32>
  store %11, %10
  %12 = elem %1, %6 : ref<i32>
  %13 = load %12 : i32
  %14 = call @plus_one.2(%13) : i32
  %15 = elem %3, %6 : ref<i32>
  store %15, %14
  %16 = const 3 : i32
  %17 = call @total(%0, %16) : f32
  %18 = const 1 : i32
  %19 = elem %2, %18 : ref<f32>
  store %19, %17
  %20 = const 4 : i32
  %21 = call @total.2(%1, %20) : i32
  %22 = elem %3, %18 : ref<i32>
  store %22, %21
  %23 = const 1.0 : f32
  %24 = call @kind(%23) : i32
  %25 = call @kind.2(%18) : i32
  %26 = const 10 : i32
  %27 = mul %25, %26 : i32
  %28 = add %24, %27 : i32
  %29 = zero : vec<3, f32>
  %30 = call @kind.3(%29) : i32
  %31 = const 100 : i32
  %32 = mul %30, %31 : i32
  %33 = add %28, %32 : i32
  %34 = const 2 : i32
  %35 = elem %3, %34 : ref<i32>
  store %35, %33
  %36 = load %12 : i32
  %37 = elem %1, %18 : ref<i32>
  %38 = load %37 : i32
  %39 = call @first(%36, %38, %16) : i32
  %40 = elem %3, %16 : ref<i32>
  store %40, %39
  return
}

;; kernel open
func @plus_one(%0 v: f64) -> (f64) {
  %1 = const 1.0 : f64
  %2 = add %0, %1 : f64
  return %2
}

kernel @open(%0 src: array<f64, 1>, %1 dst: array<f64, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f64>
  %4 = load %3 : f64
  %5 = call @plus_one(%4) : f64
  %6 = elem %1, %2 : ref<f64>
  store %6, %5
  return
}
