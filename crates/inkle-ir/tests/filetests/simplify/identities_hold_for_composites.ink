;; test simplify

kernel @k(%o: array<vec<3, f32>, 1>, %x: vec<3, f32>) {
  %z = const 0 : i32
  %one = const 1.0 : f32
  %ones = construct %one, %one, %one : vec<3, f32>
  %zero = zero : vec<3, f32>
  %a = mul %x, %ones : vec<3, f32>
  %b = sub %a, %zero : vec<3, f32>
  %r = add %b, %zero : vec<3, f32>
  %at = elem %o, %z : ref<vec<3, f32>>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<vec<3, f32>, 1>, %1 x: vec<3, f32>) {
  %2 = const 0 : i32
  %3 = zero : vec<3, f32>
  %4 = add %1, %3 : vec<3, f32>
  %5 = elem %0, %2 : ref<vec<3, f32>>
  store %5, %4
  return
}
