; The index is read again for the store; nothing writes to indices.
;; grads none clear

kernel @k(%0 n: array<i32, 1>, %1 x: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<i32>
  %4 = load %3 : i32
  %5 = elem %1, %4 : ref<f32>
  %6 = load %5 : f32
  %7 = mul %6, %6 : f32
  %8 = elem %0, %2 : ref<i32>
  %9 = load %8 : i32
  %10 = elem %1, %9 : ref<f32>
  store %10, %7
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
