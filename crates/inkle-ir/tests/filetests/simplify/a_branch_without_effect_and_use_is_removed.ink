;; test simplify dead
; One with an effect stays, without the results nothing reads.

kernel @k(%o: array<f32, 1>, %x: f32, %c: bool) {
  %z = const 0 : i32
  %a = if %c -> (f32) {
    %b = sin %x : f32
    yield %b
  } else {
    yield %x
  }
  %r, %d = if %c -> (f32, f32) {
    %f = sin %x : f32
    %g = cos %x : f32
    yield %f, %g
  } else {
    print "else"
    yield %x, %x
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 c: bool) {
  %3 = const 0 : i32
  %4 = if %2 -> (f32) {
    %5 = sin %1 : f32
    yield %5
  } else {
    print "else"
    yield %1
  }
  %6 = elem %0, %3 : ref<f32>
  store %6, %4
  return
}
