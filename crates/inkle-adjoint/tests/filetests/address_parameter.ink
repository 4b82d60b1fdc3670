; The adjoint function is given the address of the gradient, too.
;; grads clear clear

func @f(%0 x: ref<f32>, %1 y: f32) {
  %2 = load %0 : f32
  %3 = mul %2, %1 : f32
  store %0, %3
  return
}

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = elem %1, %2 : ref<f32>
  %5 = const 2.0 : f32
  call @f(%4, %5)
  return
}

;; expect:
func @f.adjoint0(%0 x: ref<f32>, %1 y: f32, %2 adj_x: ref<f32>) {
  %3 = load %2 : f32
  %4 = const 0.0 : f32
  store %2, %4
  %5 = mul %3, %1 : f32
  %6 = atomic_add %2, %5 : f32
  return
}

kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %1, %2 : ref<f32>
  %4 = const 2.0 : f32
  %5 = grad_array %1 : array<f32, 1>
  %6 = elem %5, %2 : ref<f32>
  call @f.adjoint0(%3, %4, %6)
  return
}
