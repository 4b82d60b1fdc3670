; A sum passes its gradient on, a minimum to one value that it is, and to none that it was before.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = elem %0, %2 : ref<f32>
  %6 = load %5 : f32
  %7 = elem %1, %3 : ref<f32>
  %8 = elem %1, %4 : ref<f32>
  %9 = atomic_sub %7, %6 : f32
  %10 = atomic_min %8, %6 : f32
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = elem %0, %2 : ref<f32>
  %6 = load %5 : f32
  %7 = elem %1, %4 : ref<f32>
  %8 = grad_array %1 : array<f32, 1>
  %9 = elem %8, %4 : ref<f32>
  %10 = load %7 : f32
  %11 = eq %6, %10 : bool
  %12 = if %11 -> (f32) {
    %13 = const 0.0 : f32
    %14 = atomic_exch %9, %13 : f32
    yield %14
  } else {
    %15 = const 0.0 : f32
    yield %15
  }
  %16 = elem %8, %3 : ref<f32>
  %17 = load %16 : f32
  %18 = neg %17 : f32
  %19 = add %12, %18 : f32
  %20 = grad_array %0 : array<f32, 1>
  %21 = elem %20, %2 : ref<f32>
  %22 = atomic_add %21, %19 : f32
  return
}
