; All elements are needed; all but the last are cleared.
;; grads clear clear

kernel @k(%0 y: array<f32, 1>, %1 s: array<f32, 1>) {
  %2 = shape %0, 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 0.0 : f32
  %6 = elem %1, %3 : ref<f32>
  for %7: i32 = %3, %2, %4 {
    %8 = elem %0, %7 : ref<f32>
    %9 = load %8 : f32
    %10 = sin %9 : f32
    %11 = atomic_add %6, %10 : f32
    yield
  }
  %12 = sub %2, %4 : i32
  for %13: i32 = %3, %12, %4 {
    %14 = elem %0, %13 : ref<f32>
    store %14, %5
    yield
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
