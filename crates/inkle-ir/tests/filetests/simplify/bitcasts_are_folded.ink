;; test simplify

kernel @k(%o: array<i32, 1>, %x: f32) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i32>
  %a = const 1.0 : f32
  %b = bitcast %a : i32
  store %e, %b
  %c = bitcast %x : u32
  %d = bitcast %c : i32
  store %e, %d
  %f = bitcast %d : f32
  %g = cast %f : i32
  store %e, %g
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<i32>
  %4 = const 1065353216 : i32
  store %3, %4
  %5 = bitcast %1 : i32
  store %3, %5
  %6 = cast %1 : i32
  store %3, %6
  return
}
