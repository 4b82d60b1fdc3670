; Every pass over the elements writes what the pass before has read.
;; grads clear

kernel @k(%0 y: array<f32, 1>, %1 passes: i32, %2 n: i32) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  for %5: i32 = %3, %1, %4 {
    for %6: i32 = %3, %2, %4 {
      %7 = elem %0, %6 : ref<f32>
      %8 = const 2.0 : f32
      store %7, %8
      %9 = load %7 : f32
      %10 = sin %9 : f32
      %11 = add %6, %2 : i32
      %12 = elem %0, %11 : ref<f32>
      store %12, %10
      yield
    }
    yield
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
