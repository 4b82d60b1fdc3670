; One loop needs all elements of a row, the next one clears them.
;; grads clear clear

kernel @k(%0 y: array<f32, 2>, %1 s: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = const 0 : i32
  %4 = const 4 : i32
  %5 = const 1 : i32
  %6 = const 0.0 : f32
  for %7: i32 = %3, %4, %5 {
    %8 = elem %0, %2, %7 : ref<f32>
    %9 = load %8 : f32
    %10 = sin %9 : f32
    %11 = elem %1, %2 : ref<f32>
    %12 = atomic_add %11, %10 : f32
    yield
  }
  for %13: i32 = %3, %4, %5 {
    %14 = elem %0, %2, %13 : ref<f32>
    store %14, %6
    yield
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
