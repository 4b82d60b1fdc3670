; The adjoint function gives the gradient of the parameter that has one.
;; grads clear clear

func @f(%0 x: f32, %1 k: f32) -> (f32, i32) {
  %2 = mul %0, %1 : f32
  %3 = cast %2 : i32
  %4 = sin %2 : f32
  return %4, %3
}

kernel @k(%0 x: array<f32, 1>, %1 k: f32, %2 y: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6, %7 = call @f(%5, %1) : f32, i32
  %8 = elem %2, %7 : ref<f32>
  store %8, %6
  return
}

;; expect:
func @f(%0 x: f32, %1 k: f32) -> (f32, i32) {
  %2 = mul %0, %1 : f32
  %3 = cast %2 : i32
  %4 = sin %2 : f32
  return %4, %3
}

func @f.adjoint0(%0 x: f32, %1 k: f32, %2 adj_0: f32) -> (f32) {
  %3 = mul %0, %1 : f32
  %4 = cos %3 : f32
  %5 = mul %2, %4 : f32
  %6 = mul %5, %1 : f32
  return %6
}

kernel @k.backward(%0 x: array<f32, 1>, %1 k: f32, %2 y: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6, %7 = call @f(%5, %1) : f32, i32
  %8 = grad_array %2 : array<f32, 1>
  %9 = elem %8, %7 : ref<f32>
  %10 = load %9 : f32
  %11 = const 0.0 : f32
  store %9, %11
  %12 = call @f.adjoint0(%5, %1, %10) : f32
  %13 = grad_array %0 : array<f32, 1>
  %14 = elem %13, %3 : ref<f32>
  %15 = atomic_add %14, %12 : f32
  return
}
