;; test simplify

kernel @k(%x: array<f32, 2>, %o: array<i32, 1>, %i: i32, %n: i32) {
  %two = const 2 : i32
  %w = window %x, %i, %n, %two, 1 : array<f32, 2>
  %e = elem %o, %i : ref<i32>
  %a = shape %w, 1 : i32
  store %e, %a
  %b = shape %w, 0 : i32
  store %e, %b
  %c = stride %w, 0 : i64
  %d = stride %w, 1 : i64
  %f = add %c, %d : i64
  %g = cast %f : i32
  store %e, %g
  %column = view %w, %i, 1 : array<f32, 1>
  %h = shape %column, 0 : i32
  store %e, %h
  %r = elem %column, %n : ref<f32>
  %v = load %r : f32
  %local = local 3, 5 : array<f32, 2>
  %unused = local 3, 5 : array<f32, 2>
  %s = elem %local, %i, %i : ref<f32>
  store %s, %v
  %t = shape %local, 1 : i32
  store %e, %t
  %p = zero : u64
  %at = array_at %p, %n, %i : array<f32, 2>
  %u = shape %at, 1 : i32
  store %e, %u
  return
}

;; expect:
kernel @k(%0 x: array<f32, 2>, %1 o: array<i32, 1>, %2 i: i32, %3 n: i32) {
  %4 = const 2 : i32
  %5 = window %0, %2, %3, %4, 1 : array<f32, 2>
  %6 = elem %1, %2 : ref<i32>
  store %6, %3
  %7 = shape %0, 0 : i32
  store %6, %7
  %8 = stride %0, 0 : i64
  %9 = stride %5, 1 : i64
  %10 = add %8, %9 : i64
  %11 = cast %10 : i32
  store %6, %11
  store %6, %7
  %12 = elem %5, %3, %2 : ref<f32>
  %13 = load %12 : f32
  %14 = local 3, 5 : array<f32, 2>
  %15 = elem %14, %2, %2 : ref<f32>
  store %15, %13
  %16 = const 5 : i32
  store %6, %16
  store %6, %2
  return
}
