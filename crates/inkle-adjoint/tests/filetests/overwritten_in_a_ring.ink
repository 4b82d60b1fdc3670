; Two elements in turn: what is read is overwritten an iteration later.
;; grads clear

kernel @k(%0 y: array<f32, 1>, %1 n: i32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = const 2 : i32
  for %5: i32 = %2, %1, %3 {
    %6 = rem %5, %4 : i32
    %7 = elem %0, %6 : ref<f32>
    %8 = load %7 : f32
    %9 = sin %8 : f32
    %10 = add %5, %3 : i32
    %11 = rem %10, %4 : i32
    %12 = elem %0, %11 : ref<f32>
    store %12, %9
    yield
  }
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
