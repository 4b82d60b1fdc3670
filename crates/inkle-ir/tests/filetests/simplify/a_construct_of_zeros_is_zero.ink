;; test simplify
; Not of -0.0.

kernel @k(%o: array<vec<2, f32>, 1>) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<vec<2, f32>>
  %a = const 0.0 : f32
  %b = const -0.0 : f32
  %v = construct %a, %a : vec<2, f32>
  store %e, %v
  %w = construct %a, %b : vec<2, f32>
  store %e, %w
  return
}

;; expect:
kernel @k(%0 o: array<vec<2, f32>, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<vec<2, f32>>
  %3 = const 0.0 : f32
  %4 = const -0.0 : f32
  %5 = zero : vec<2, f32>
  store %2, %5
  %6 = construct %3, %4 : vec<2, f32>
  store %2, %6
  return
}
