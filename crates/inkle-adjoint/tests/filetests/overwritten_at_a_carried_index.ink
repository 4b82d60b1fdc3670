; The index is counted besides the loop's own one.
;; grads clear

kernel @k(%0 y: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = for %5: i32 = %2, %1, %3 carry(%6: i32 = %2) -> (i32) {
    %7 = add %6, %3 : i32
    %8 = elem %0, %7 : ref<f32>
    %9 = load %8 : f32
    %10 = sin %9 : f32
    %11 = elem %0, %6 : ref<f32>
    store %11, %10
    yield %7
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
