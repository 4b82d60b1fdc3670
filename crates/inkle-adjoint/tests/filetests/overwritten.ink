; The square's gradient needs what the element held before.
;; grads clear

kernel @k(%0 x: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = elem %0, %1 : ref<f32>
  %3 = load %2 : f32
  %4 = mul %3, %3 : f32
  store %2, %4
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
