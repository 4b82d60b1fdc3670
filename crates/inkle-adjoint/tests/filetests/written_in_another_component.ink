; One component is needed, another one is overwritten.
;; grads clear

kernel @k(%0 x: array<vec<3, f32>, 1>) {
  %1 = tid 0 : i32
  %2 = elem %0, %1 : ref<vec<3, f32>>
  %3 = load %2 : vec<3, f32>
  %4 = extract %3, 1 : f32
  %5 = mul %4, %4 : f32
  %6 = const 0 : i32
  %7 = comp %2, %6 : ref<f32>
  store %7, %5
  return
}

;; expect:
kernel @k.backward(%0 x: array<vec<3, f32>, 1>) {
  %1 = tid 0 : i32
  %2 = elem %0, %1 : ref<vec<3, f32>>
  %3 = load %2 : vec<3, f32>
  %4 = extract %3, 1 : f32
  %5 = const 0 : i32
  %6 = grad_array %0 : array<vec<3, f32>, 1>
  %7 = elem %6, %1 : ref<vec<3, f32>>
  %8 = comp %7, %5 : ref<f32>
  %9 = load %8 : f32
  %10 = const 0.0 : f32
  store %8, %10
  %11 = mul %9, %4 : f32
  %12 = add %11, %11 : f32
  %13 = zero : vec<3, f32>
  %14 = insert %13, %12, 1 : vec<3, f32>
  %15 = atomic_add %7, %14 : vec<3, f32>
  return
}
