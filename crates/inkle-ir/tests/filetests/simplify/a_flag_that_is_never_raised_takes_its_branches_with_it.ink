;; test simplify
; As early returns leave them behind.

kernel @k(%o: array<f32, 1>, %x: f32, %n: i32) {
  %z = const 0 : i32
  %f = const false : bool
  %r, %done = for %i: i32 = %z, %n, %n carry(%c: f32 = %x, %d: bool = %f) -> (f32, bool) {
    %a, %e2 = if %d -> (f32, bool) {
      yield %c, %d
    } else {
      %b = mul %c, %x : f32
      yield %b, %d
    }
    yield %a, %e2
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 n: i32) {
  %3 = const 0 : i32
  %4 = for %5: i32 = %3, %2, %2 carry(%6: f32 = %1) -> (f32) {
    %7 = mul %6, %1 : f32
    yield %7
  }
  %8 = elem %0, %3 : ref<f32>
  store %8, %4
  return
}
