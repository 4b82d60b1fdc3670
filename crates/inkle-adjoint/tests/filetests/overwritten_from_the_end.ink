; `y[-1]` is read, `y[y.shape[0] - 1]` is written.
;; grads clear

kernel @k(%0 y: array<f32, 1>) {
  %1 = shape %0, 0 : i32
  %2 = const -1 : i32
  %3 = add %2, %1 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = mul %5, %5 : f32
  %7 = const 1 : i32
  %8 = const 0 : i32
  %9 = sub %1, %7 : i32
  %10 = lt %9, %8 : bool
  %11 = add %9, %1 : i32
  %12 = select %10, %11, %9 : i32
  %13 = elem %0, %12 : ref<f32>
  store %13, %6
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
