; Where it is written depends on the counter's old value, which is gone.
;; grads none clear clear

kernel @k(%0 count: array<i32, 1>, %1 x: array<f32, 1>, %2 y: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = const 0 : i32
  %5 = const 1 : i32
  %6 = elem %0, %4 : ref<i32>
  %7 = atomic_add %6, %5 : i32
  %8 = elem %1, %3 : ref<f32>
  %9 = load %8 : f32
  %10 = elem %2, %7 : ref<f32>
  store %10, %9
  return
}

;; expect:
; G002: the gradient needs the result of an atomic operation, which cannot be repeated
