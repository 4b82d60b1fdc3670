; One load, one formula, one store: the store's gradient is taken and cleared, the load's is added to.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = sin %4 : f32
  %6 = elem %1, %2 : ref<f32>
  store %6, %5
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = grad_array %1 : array<f32, 1>
  %6 = elem %5, %2 : ref<f32>
  %7 = load %6 : f32
  %8 = const 0.0 : f32
  store %6, %8
  %9 = cos %4 : f32
  %10 = mul %7, %9 : f32
  %11 = grad_array %0 : array<f32, 1>
  %12 = elem %11, %2 : ref<f32>
  %13 = atomic_add %12, %10 : f32
  return
}
