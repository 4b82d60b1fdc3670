; How often it ran is counted; the index follows from the iteration's number.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 2 : i32
  %5 = zero : f32
  %6, %7 = while carry(%8: i32 = %3, %9: f32 = %5) -> (i32, f32) {
    %10 = lt %8, %1 : bool
    yield %10
  } do(%11: i32, %12: f32) {
    %13 = elem %0, %11 : ref<f32>
    %14 = load %13 : f32
    %15 = sin %14 : f32
    %16 = add %12, %15 : f32
    %17 = add %11, %4 : i32
    yield %17, %16
  }
  %18 = elem %2, %3 : ref<f32>
  store %18, %7
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 2 : i32
  %5, %6 = while carry(%7: i32 = %3, %8: i32 = %3) -> (i32, i32) {
    %9 = lt %7, %1 : bool
    yield %9
  } do(%10: i32, %11: i32) {
    %12 = add %10, %4 : i32
    %13 = const 1 : i32
    %14 = add %11, %13 : i32
    yield %12, %14
  }
  %15 = grad_array %2 : array<f32, 1>
  %16 = elem %15, %3 : ref<f32>
  %17 = load %16 : f32
  %18 = const 0.0 : f32
  store %16, %18
  %19 = const 1 : i32
  for %20: i32 = %3, %6, %19 {
    %21 = sub %6, %19 : i32
    %22 = sub %21, %20 : i32
    %23 = mul %22, %4 : i32
    %24 = elem %0, %23 : ref<f32>
    %25 = load %24 : f32
    %26 = cos %25 : f32
    %27 = mul %17, %26 : f32
    %28 = grad_array %0 : array<f32, 1>
    %29 = elem %28, %23 : ref<f32>
    %30 = atomic_add %29, %27 : f32
    yield
  }
  return
}
