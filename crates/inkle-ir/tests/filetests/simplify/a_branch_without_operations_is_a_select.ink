;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32, %c: bool) {
  %z = const 0 : i32
  %n = not %c : bool
  %r, %q = if %n -> (f32, i32) {
    yield %x, %z
  } else {
    yield %y, %z
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32, %3 c: bool) {
  %4 = const 0 : i32
  %5 = select %3, %2, %1 : f32
  %6 = elem %0, %4 : ref<f32>
  store %6, %5
  return
}
