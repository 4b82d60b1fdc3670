; The function writes the element after the one that is read.
;; grads clear

func @put(%0 y: array<f32, 1>, %1 i: i32, %2 v: f32) {
  %3 = const 1 : i32
  %4 = add %1, %3 : i32
  %5 = elem %0, %4 : ref<f32>
  store %5, %2
  return
}

kernel @k(%0 y: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = const 2 : i32
  %3 = mul %1, %2 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = mul %5, %5 : f32
  call @put(%0, %3, %6)
  return
}

;; expect:
func @put.adjoint0(%0 y: array<f32, 1>, %1 i: i32, %2 v: f32) -> (f32) {
  %3 = const 1 : i32
  %4 = add %1, %3 : i32
  %5 = grad_array %0 : array<f32, 1>
  %6 = elem %5, %4 : ref<f32>
  %7 = load %6 : f32
  %8 = const 0.0 : f32
  store %6, %8
  return %7
}

kernel @k.backward(%0 y: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = const 2 : i32
  %3 = mul %1, %2 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = const 0.0 : f32
  %7 = call @put.adjoint0(%0, %3, %6) : f32
  %8 = mul %7, %5 : f32
  %9 = add %8, %8 : f32
  %10 = grad_array %0 : array<f32, 1>
  %11 = elem %10, %3 : ref<f32>
  %12 = atomic_add %11, %9 : f32
  return
}
