; One function reads the element, another overwrites it.
;; grads clear

func @square(%0 y: array<f32, 1>, %1 i: i32) -> (f32) {
  %2 = elem %0, %1 : ref<f32>
  %3 = load %2 : f32
  %4 = mul %3, %3 : f32
  return %4
}

func @put(%0 y: array<f32, 1>, %1 i: i32, %2 v: f32) {
  %3 = elem %0, %1 : ref<f32>
  store %3, %2
  return
}

kernel @k(%0 y: array<f32, 1>) {
  %1 = tid 0 : i32
  %2 = call @square(%0, %1) : f32
  call @put(%0, %1, %2)
  return
}

;; expect:
; G001: the gradient needs the value of an array element that is overwritten later
