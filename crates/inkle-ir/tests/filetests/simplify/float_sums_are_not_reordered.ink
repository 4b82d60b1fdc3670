;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %c = const 1.0 : f32
  %d = const 2.0 : f32
  %a = add %x, %c : f32
  %r = add %a, %d : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = const 1.0 : f32
  %4 = const 2.0 : f32
  %5 = add %1, %3 : f32
  %6 = add %5, %4 : f32
  %7 = elem %0, %2 : ref<f32>
  store %7, %6
  return
}
