;; test simplify
; Rounding, saturation where the direct cast wraps, and the test for zero.

kernel @k(%o: array<i8, 1>, %p: array<f64, 1>, %x: i32, %d: f64) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i8>
  %g = elem %p, %z : ref<f64>
  %a = cast %x : f64
  %b = cast %a : i8
  store %e, %b
  %c = cast %d : f32
  %f = cast %c : f64
  store %g, %f
  %h = cast %x : bool
  %i = cast %h : i8
  store %e, %i
  %j = cast %x : u8
  %k = cast %j : i64
  %l = cast %k : f64
  store %g, %l
  return
}

;; expect:
kernel @k(%0 o: array<i8, 1>, %1 p: array<f64, 1>, %2 x: i32, %3 d: f64) {
  %4 = const 0 : i32
  %5 = elem %0, %4 : ref<i8>
  %6 = elem %1, %4 : ref<f64>
  %7 = cast %2 : f64
  %8 = cast %7 : i8
  store %5, %8
  %9 = cast %3 : f32
  %10 = cast %9 : f64
  store %6, %10
  %11 = cast %2 : bool
  %12 = cast %11 : i8
  store %5, %12
  %13 = cast %2 : u8
  %14 = cast %13 : f64
  store %6, %14
  return
}
