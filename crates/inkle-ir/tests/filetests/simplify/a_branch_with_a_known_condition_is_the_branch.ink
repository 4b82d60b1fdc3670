;; test simplify fold

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32) {
  %z = const 0 : i32
  %t = const true : bool
  %r = if %t -> (f32) {
    print "then"
    yield %x
  } else {
    print "else"
    yield %y
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32) {
  %3 = const 0 : i32
  %4 = const true : bool
  print "then"
  %5 = elem %0, %3 : ref<f32>
  store %5, %1
  return
}
