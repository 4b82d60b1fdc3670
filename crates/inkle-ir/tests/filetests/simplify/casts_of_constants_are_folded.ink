;; test simplify
; Integers wrap, floats round or saturate, NaN gives zero.

kernel @k(%o: array<i8, 1>, %p: array<f32, 1>) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i8>
  %g = elem %p, %z : ref<f32>
  %a = const 300 : i32
  %b = cast %a : i8
  store %e, %b
  %c = const 300.7 : f32
  %d = cast %c : i8
  store %e, %d
  %f = const nan : f64
  %h = cast %f : i8
  store %e, %h
  %i = const 16777217 : i32
  %j = cast %i : f32
  store %g, %j
  return
}

;; expect:
kernel @k(%0 o: array<i8, 1>, %1 p: array<f32, 1>) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<i8>
  %4 = elem %1, %2 : ref<f32>
  %5 = const 44 : i8
  store %3, %5
  %6 = const 127 : i8
  store %3, %6
  %7 = const 0 : i8
  store %3, %7
  %8 = const 16777216.0 : f32
  store %4, %8
  return
}
