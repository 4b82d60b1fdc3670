;; test simplify carried
; Not even when an inner loop hands it on.

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32, %n: i32) {
  %z = const 0 : i32
  %a, %b = for %i: i32 = %z, %n, %n carry(%c: f32 = %x, %d: f32 = %y) -> (f32, f32) {
    %g, %f = while carry(%p: f32 = %d, %q: f32 = %c) -> (f32, f32) {
      %t = lt %q, %p : bool
      yield %t
    } do(%u: f32, %v: f32) {
      %w = mul %v, %u : f32
      yield %u, %w
    }
    yield %f, %g
  }
  %r = add %a, %b : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32, %3 n: i32) {
  %4 = const 0 : i32
  %5 = for %6: i32 = %4, %3, %3 carry(%7: f32 = %1) -> (f32) {
    %8 = while carry(%9: f32 = %7) -> (f32) {
      %10 = lt %9, %2 : bool
      yield %10
    } do(%11: f32) {
      %12 = mul %11, %2 : f32
      yield %12
    }
    yield %8
  }
  %13 = add %5, %2 : f32
  %14 = elem %0, %4 : ref<f32>
  store %14, %13
  return
}
