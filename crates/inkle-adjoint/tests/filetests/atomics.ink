; A sum passes its gradient on, a minimum to the value that it is.
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
  %10 = load %9 : f32
  %11 = load %7 : f32
  %12 = eq %6, %11 : bool
  %13 = const 0.0 : f32
  %14 = select %12, %10, %13 : f32
  %15 = elem %8, %3 : ref<f32>
  %16 = load %15 : f32
  %17 = neg %16 : f32
  %18 = add %14, %17 : f32
  %19 = grad_array %0 : array<f32, 1>
  %20 = elem %19, %2 : ref<f32>
  %21 = atomic_add %20, %18 : f32
  return
}
