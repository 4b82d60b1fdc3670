;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32) {
  %z = const 0 : i32
  %v = construct %x, %y, %x : vec<3, f32>
  %a = extract %v, 1 : f32
  %one = const 1 : i32
  %b = extract_dyn %v, %one : f32
  %n = zero : vec<3, f32>
  %c = extract %n, 2 : f32
  %d = sub %a, %c : f32
  %r = mul %b, %d : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = mul %2, %2 : f32
  %5 = elem %0, %3 : ref<f32>
  store %5, %4
  return
}
