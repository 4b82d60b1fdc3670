; What a function does with the array is not followed.
;; grads clear clear

func @f(%0 a: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<f32>
  store %3, %1
  return
}

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = const 0 : i32
  %3 = local 4 : array<f32, 1>
  %4 = elem %0, %2 : ref<f32>
  %5 = load %4 : f32
  call @f(%3, %5)
  %6 = elem %3, %2 : ref<f32>
  %7 = load %6 : f32
  %8 = elem %1, %2 : ref<f32>
  store %8, %7
  return
}

;; expect:
; G005: no gradient flows through this array of the thread's own
