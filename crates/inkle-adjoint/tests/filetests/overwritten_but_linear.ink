; What is overwritten is divided by what has no gradient, and given to a function that is linear in it.
;; grads clear clear none

func @mix(%0 v: f32, %1 w: f32) -> (f32) {
  %2 = mul %1, %1 : f32
  %3 = const 3.0 : f32
  %4 = mul %0, %3 : f32
  %5 = add %4, %2 : f32
  return %5
}

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 dt: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = elem %1, %3 : ref<f32>
  %7 = load %6 : f32
  %8 = elem %2, %3 : ref<f32>
  %9 = load %8 : f32
  %10 = div %5, %9 : f32
  %11 = call @mix(%10, %7) : f32
  store %4, %11
  return
}

;; expect:
func @mix.adjoint0(%0 v: f32, %1 w: f32, %2 adj_0: f32) -> (f32, f32) {
  %3 = const 3.0 : f32
  %4 = mul %2, %3 : f32
  %5 = mul %2, %1 : f32
  %6 = add %5, %5 : f32
  return %4, %6
}

kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 dt: array<f32, 1>) {
  %3 = tid 0 : i32
  %4 = elem %1, %3 : ref<f32>
  %5 = load %4 : f32
  %6 = elem %2, %3 : ref<f32>
  %7 = load %6 : f32
  %8 = grad_array %0 : array<f32, 1>
  %9 = elem %8, %3 : ref<f32>
  %10 = load %9 : f32
  %11 = const 0.0 : f32
  store %9, %11
  %12, %13 = call @mix.adjoint0(%11, %5, %10) : f32, f32
  %14 = div %12, %7 : f32
  %15 = grad_array %1 : array<f32, 1>
  %16 = elem %15, %3 : ref<f32>
  %17 = atomic_add %16, %13 : f32
  %18 = atomic_add %9, %14 : f32
  return
}
