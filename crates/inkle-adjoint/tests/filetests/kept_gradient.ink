; The gradient of what is written stays; nothing is computed for the array without one.
;; grads clear none keep

kernel @k(%0 x: array<f32, 1>, %1 z: array<f32, 1>, %2 y: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = elem %1, %3 : ref<f32>
  %7 = load %6 : f32
  %8 = mul %5, %7 : f32
  %9 = elem %2, %3 : ref<f32>
  store %9, %8
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 z: array<f32, 1>, %2 y: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %1, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = grad_array %2 : array<f32, 1>
  %7 = elem %6, %3 : ref<f32>
  %8 = load %7 : f32
  %9 = mul %8, %5 : f32
  %10 = grad_array %0 : array<f32, 1>
  %11 = elem %10, %3 : ref<f32>
  %12 = atomic_add %11, %9 : f32
  return
}
