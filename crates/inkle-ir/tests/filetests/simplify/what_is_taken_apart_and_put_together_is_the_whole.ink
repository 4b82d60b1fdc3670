;; test simplify
; In the same order.

kernel @k(%o: array<vec<2, f32>, 1>, %v: vec<2, f32>) {
  %z = const 0 : i32
  %a = extract %v, 0 : f32
  %b = extract %v, 1 : f32
  %w = construct %a, %b : vec<2, f32>
  %c = extract %w, 1 : f32
  %u = insert %w, %c, 1 : vec<2, f32>
  %s = construct %b, %a : vec<2, f32>
  %r = add %u, %s : vec<2, f32>
  %at = elem %o, %z : ref<vec<2, f32>>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<vec<2, f32>, 1>, %1 v: vec<2, f32>) {
  %2 = const 0 : i32
  %3 = extract %1, 0 : f32
  %4 = extract %1, 1 : f32
  %5 = construct %4, %3 : vec<2, f32>
  %6 = add %1, %5 : vec<2, f32>
  %7 = elem %0, %2 : ref<vec<2, f32>>
  store %7, %6
  return
}
