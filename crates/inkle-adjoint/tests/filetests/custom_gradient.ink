; The function linked as the gradient gives the gradients; the replay gives the results that are needed.
;; grads clear clear

func @f(%0 x: f32, %1 a: array<f32, 1>) -> (f32) gradient @g replay @r {
  %2 = exp %0 : f32
  return %2
}

func @g(%0 x: f32, %1 a: array<f32, 1>, %2 adj: f32, %3 dx: f32, %4 da: array<f32, 1>) -> (f32) {
  %5 = add %3, %2 : f32
  return %5
}

func @r(%0 x: f32, %1 a: array<f32, 1>) -> (f32) {
  return %0
}

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = call @f(%4, %0) : f32
  %6 = sin %5 : f32
  %7 = elem %1, %2 : ref<f32>
  store %7, %6
  return
}

;; expect:
func @r(%0 x: f32, %1 a: array<f32, 1>) -> (f32) {
  return %0
}

func @g(%0 x: f32, %1 a: array<f32, 1>, %2 adj: f32, %3 dx: f32, %4 da: array<f32, 1>) -> (f32) {
  %5 = add %3, %2 : f32
  return %5
}

kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = call @r(%4, %0) : f32
  %6 = grad_array %1 : array<f32, 1>
  %7 = elem %6, %2 : ref<f32>
  %8 = load %7 : f32
  %9 = const 0.0 : f32
  store %7, %9
  %10 = cos %5 : f32
  %11 = mul %8, %10 : f32
  %12 = grad_array %0 : array<f32, 1>
  %13 = call @g(%4, %0, %11, %9, %12) : f32
  %14 = elem %12, %2 : ref<f32>
  %15 = atomic_add %14, %13 : f32
  return
}
