;; test simplify

kernel @k(%o: array<f32, 1>, %v: vec<3, f32>) {
  %z = const 0 : i32
  %i = const 3 : i32
  %j = const -1 : i32
  %a = extract_dyn %v, %i : f32
  %w = insert_dyn %v, %a, %j : vec<3, f32>
  %r = extract_dyn %w, %z : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 v: vec<3, f32>) {
  %2 = const 0 : i32
  %3 = const 3 : i32
  %4 = const -1 : i32
  %5 = extract_dyn %1, %3 : f32
  %6 = insert_dyn %1, %5, %4 : vec<3, f32>
  %7 = extract %6, 0 : f32
  %8 = elem %0, %2 : ref<f32>
  store %8, %7
  return
}
