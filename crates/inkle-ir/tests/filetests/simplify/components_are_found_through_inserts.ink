;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32, %v: vec<3, f32>) {
  %z = const 0 : i32
  %a = insert %v, %x, 0 : vec<3, f32>
  %two = const 2 : i32
  %b = insert_dyn %a, %y, %two : vec<3, f32>
  %c = extract %b, 0 : f32
  %d = extract %b, 1 : f32
  %f = extract %b, 2 : f32
  %g = add %c, %d : f32
  %r = add %g, %f : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32, %3 v: vec<3, f32>) {
  %4 = const 0 : i32
  %5 = extract %3, 1 : f32
  %6 = add %1, %5 : f32
  %7 = add %6, %2 : f32
  %8 = elem %0, %4 : ref<f32>
  store %8, %7
  return
}
