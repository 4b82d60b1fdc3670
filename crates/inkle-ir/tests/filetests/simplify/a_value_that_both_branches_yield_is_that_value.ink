;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32, %c: bool) {
  %z = const 0 : i32
  %p, %r = if %c -> (f32, f32) {
    print "then"
    yield %y, %x
  } else {
    print "else"
    yield %x, %x
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32, %3 c: bool) {
  %4 = const 0 : i32
  if %3 {
    print "then"
    yield
  } else {
    print "else"
    yield
  }
  %5 = elem %0, %4 : ref<f32>
  store %5, %1
  return
}
