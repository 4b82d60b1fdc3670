;; test simplify

kernel @k(%o: array<i32, 1>, %p: array<f32, 1>, %x: i32, %y: i8, %h: f16) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i32>
  %g = elem %p, %z : ref<f32>
  %a = cast %x : f64
  %b = cast %a : i32
  store %e, %b
  %c = cast %y : i64
  %d = cast %c : i32
  store %e, %d
  %i = cast %h : f64
  %j = cast %i : f32
  store %g, %j
  %k = cast %x : i64
  %l = cast %k : f32
  store %g, %l
  %m = cast %x : i16
  %n = cast %m : i8
  %q = cast %n : i32
  store %e, %q
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 p: array<f32, 1>, %2 x: i32, %3 y: i8, %4 h: f16) {
  %5 = const 0 : i32
  %6 = elem %0, %5 : ref<i32>
  %7 = elem %1, %5 : ref<f32>
  store %6, %2
  %8 = cast %3 : i32
  store %6, %8
  %9 = cast %4 : f32
  store %7, %9
  %10 = cast %2 : f32
  store %7, %10
  %11 = cast %2 : i8
  %12 = cast %11 : i32
  store %6, %12
  return
}
