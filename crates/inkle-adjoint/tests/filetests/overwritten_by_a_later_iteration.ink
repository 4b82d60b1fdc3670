; Iteration k reads the element that iteration k + 1 overwrites.
;; grads clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  for %4: i32 = %2, %1, %3 {
    %5 = add %4, %3 : i32
    %6 = elem %0, %5 : ref<f32>
    %7 = load %6 : f32
    %8 = sin %7 : f32
    %9 = elem %0, %4 : ref<f32>
    store %9, %8
    yield
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
