; `y[i]` is read, `y[1:][i - 1]` is written.
;; grads clear

kernel @k(%0 y: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = shape %0, 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = min %2, %4 : i32
  %6 = sub %2, %5 : i32
  %7 = max %6, %3 : i32
  %8 = window %0, %5, %7, %4, 0 : array<f32, 1>
  %9 = elem %0, %1 : ref<f32>
  %10 = load %9 : f32
  %11 = mul %10, %10 : f32
  %12 = sub %1, %4 : i32
  %13 = elem %8, %12 : ref<f32>
  store %13, %11
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
