;; kernel variables
func @bump(%0 x: f32, %1 by: f32) -> (f32, f32) {
  %2 = const 0.0 : f32
  %3 = gt %1, %2 : bool
  %4 = if %3 -> (f32) {
    %5 = add %0, %1 : f32
    yield %5
  } else {
    yield %0
  }
  return %0, %4
}

func @twice(%0 v: vec<3, f32>) -> (vec<3, f32>) {
  %1 = extract %0, 1 : f32
  %2 = const 1.0 : f32
  %3, %4 = call @bump(%1, %2) : f32, f32
  %5 = insert %0, %4, 1 : vec<3, f32>
  %6 = const 2.0 : f32
  %7 = insert %5, %6, 0 : vec<3, f32>
  return %7
}

kernel @variables(%0 out: array<f32, 1>) {
  %1 = const 1.0 : f32
  %2 = const 2.0 : f32
  %3, %4 = call @bump(%1, %2) : f32, f32
  %5 = add %4, %3 : f32
  %6 = const 0 : i32
  %7 = elem %0, %6 : ref<f32>
  store %7, %5
  %8 = zero : vec<3, f32>
  %9 = call @twice(%8) : vec<3, f32>
  %10 = extract %9, 1 : f32
  %11 = const 1 : i32
  %12 = elem %0, %11 : ref<f32>
  store %12, %10
  return
}

;; kernel memory
func @bump(%0 x: ref<f32>, %1 by: f32) -> (f32) {
  %2 = load %0 : f32
  %3 = const 0.0 : f32
  %4 = gt %1, %3 : bool
  if %4 {
    %5 = load %0 : f32
    %6 = add %5, %1 : f32
    store %0, %6
    yield
  } else {
    yield
  }
  return %2
}

func @twice(%0 v: ref<vec<3, f32>>) {
  %1 = const 1 : i32
  %2 = comp %0, %1 : ref<f32>
  %3 = const 1.0 : f32
  %4 = call @bump(%2, %3) : f32
  %5 = const 0 : i32
  %6 = comp %0, %5 : ref<f32>
  %7 = const 2.0 : f32
  store %6, %7
  return
}

kernel @memory(%0 out: array<f32, 1>, %1 points: array<vec<3, f32>, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = const 1.0 : f32
  %5 = call @bump(%3, %4) : f32
  %6 = elem %1, %2 : ref<vec<3, f32>>
  call @twice(%6)
  %7 = const 2 : i32
  %8 = comp %6, %7 : ref<f32>
  %9 = call @bump(%8, %4) : f32
  return
}

;; kernel loops
func @bump(%0 x: f32, %1 by: f32) -> (f32, f32) {
  %2 = const 0.0 : f32
  %3 = gt %1, %2 : bool
  %4 = if %3 -> (f32) {
    %5 = add %0, %1 : f32
    yield %5
  } else {
    yield %0
  }
  return %0, %4
}

kernel @loops(%0 out: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const 0.0 : f32
  %5 = for %6: i32 = %2, %1, %3 carry(%7: f32 = %4) -> (f32) {
    %8 = const 1.0 : f32
    %9, %10 = call @bump(%7, %8) : f32, f32
    yield %10
  }
  %11 = elem %0, %2 : ref<f32>
  store %11, %5
  return
}
