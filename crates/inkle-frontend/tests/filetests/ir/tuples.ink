;; kernel calls
func @weighted(%0 pair_0: vec<3, f32>, %1 pair_1: f32) -> (f32) {
  %2 = extract %0, 0 : f32
  %3 = mul %2, %1 : f32
  return %3
}

func @total(%0 values_0: i32, %1 values_1: i32, %2 values_2: i32) -> (i32) {
  %3 = add %0, %1 : i32
  %4 = add %3, %2 : i32
  return %4
}

func @total.2(%0 values_0: i32) -> (i32) {
  return %0
}

kernel @calls(%0 x: f32, %1 n: i32, %2 out: array<f32, 1>) {
  %3 = construct %0, %0, %0 : vec<3, f32>
  %4 = call @weighted(%3, %0) : f32
  %5 = const 0 : i32
  %6 = elem %2, %5 : ref<f32>
  store %6, %4
  %7 = const 2 : i32
  %8 = const 3 : i32
  %9 = call @total(%1, %7, %8) : i32
  %10 = cast %9 : f32
  %11 = const 1 : i32
  %12 = elem %2, %11 : ref<f32>
  store %12, %10
  %13 = call @total.2(%1) : i32
  %14 = cast %13 : f32
  %15 = elem %2, %7 : ref<f32>
  store %15, %14
  return
}
