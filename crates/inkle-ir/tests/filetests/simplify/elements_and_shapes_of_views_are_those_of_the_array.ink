;; test simplify

kernel @k(%x: array<f32, 3>, %o: array<i32, 1>, %i: i32) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i32>
  %v = view %x, %i, 0 : array<f32, 2>
  %w = view %v, %z, 0 : array<f32, 1>
  %s = shape %w, 0 : i32
  store %e, %s
  %a = elem %w, %i : ref<f32>
  %b = load %a : f32
  %c = elem %v, %i, %i : ref<f32>
  store %c, %b
  %t = stride %v, 1 : i64
  %u = cast %t : i32
  store %e, %u
  return
}

;; expect:
kernel @k(%0 x: array<f32, 3>, %1 o: array<i32, 1>, %2 i: i32) {
  %3 = const 0 : i32
  %4 = elem %1, %3 : ref<i32>
  %5 = shape %0, 2 : i32
  store %4, %5
  %6 = elem %0, %2, %3, %2 : ref<f32>
  %7 = load %6 : f32
  %8 = elem %0, %2, %2, %2 : ref<f32>
  store %8, %7
  %9 = stride %0, 2 : i64
  %10 = cast %9 : i32
  store %4, %10
  return
}
