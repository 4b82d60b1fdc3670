; The element is doubled; what it held before is not needed.
;; grads clear

kernel @k(%0 x: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = elem %0, %1 : ref<f32>
  %3 = load %2 : f32
  %4 = add %3, %3 : f32
  store %2, %4
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = grad_array %0 : array<f32, 1>
  %3 = elem %2, %1 : ref<f32>
  %4 = load %3 : f32
  %5 = const 0.0 : f32
  store %3, %5
  %6 = add %4, %4 : f32
  %7 = atomic_add %3, %6 : f32
  return
}
