;; test simplify

kernel @k(%o: array<vec<3, f32>, 1>, %x: f32, %y: f32) {
  %z = const 0 : i32
  %a = zero : vec<3, f32>
  %b = insert %a, %x, 0 : vec<3, f32>
  %c = insert %b, %y, 1 : vec<3, f32>
  %d = insert %c, %x, 1 : vec<3, f32>
  %r = insert %d, %y, 2 : vec<3, f32>
  %at = elem %o, %z : ref<vec<3, f32>>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<vec<3, f32>, 1>, %1 x: f32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = construct %1, %1, %2 : vec<3, f32>
  %5 = elem %0, %3 : ref<vec<3, f32>>
  store %5, %4
  return
}
