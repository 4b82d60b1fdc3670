; Without a gradient to come from or to go to there is nothing to do.
;; grads clear none

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = elem %1, %2 : ref<f32>
  store %5, %4
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  return
}
