; The branches compute what they need again.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = zero : f32
  %6 = gt %4, %5 : bool
  %7 = if %6 -> (f32) {
    %8 = exp %4 : f32
    yield %8
  } else {
    yield %4
  }
  %9 = elem %1, %2 : ref<f32>
  store %9, %7
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 y: array<f32, 1>) {
  %2 = tid 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = load %3 : f32
  %5 = const 0.0 : f32
  %6 = gt %4, %5 : bool
  %7 = grad_array %1 : array<f32, 1>
  %8 = elem %7, %2 : ref<f32>
  %9 = load %8 : f32
  store %8, %5
  %10 = if %6 -> (f32) {
    %11 = exp %4 : f32
    %12 = mul %9, %11 : f32
    yield %12
  } else {
    yield %9
  }
  %13 = grad_array %0 : array<f32, 1>
  %14 = elem %13, %2 : ref<f32>
  %15 = atomic_add %14, %10 : f32
  return
}
