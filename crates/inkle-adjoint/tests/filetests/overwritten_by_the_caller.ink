; The index comes from a function, too.
;; grads clear none

func @next(%0 n: array<i32, 1>, %1 i: i32) -> (i32) {
  %2 = elem %0, %1 : ref<i32>
  %3 = load %2 : i32
  return %3
}

func @square(%0 y: array<f32, 1>, %1 i: i32) -> (f32) {
  %2 = elem %0, %1 : ref<f32>
  %3 = load %2 : f32
  %4 = mul %3, %3 : f32
  return %4
}

kernel @k(%0 y: array<f32, 1>, %1 n: array<i32, 1>) {
  %2 = tid 0 : i32
  %3 = call @next(%1, %2) : i32
  %4 = call @square(%0, %3) : f32
  %5 = call @next(%1, %2) : i32
  %6 = elem %0, %5 : ref<f32>
  store %6, %4
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
