;; test simplify dead

kernel @k(%o: array<f32, 1>, %x: f32, %n: i32) {
  %z = const 0 : i32
  %a, %r, %b = for %i: i32 = %z, %n, %n carry(%c: f32 = %x, %d: f32 = %x, %u: f32 = %x) -> (f32, f32, f32) {
    %f = mul %c, %c : f32
    %g = add %d, %u : f32
    %v = sin %u : f32
    yield %f, %g, %v
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 n: i32) {
  %3 = const 0 : i32
  %4, %5 = for %6: i32 = %3, %2, %2 carry(%7: f32 = %1, %8: f32 = %1) -> (f32, f32) {
    %9 = add %7, %8 : f32
    %10 = sin %8 : f32
    yield %9, %10
  }
  %11 = elem %0, %3 : ref<f32>
  store %11, %4
  return
}
