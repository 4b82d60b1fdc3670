;; test simplify

kernel @k(%o: array<f32, 1>, %x: f32, %y: f32, %n: i32) {
  %z = const 0 : i32
  %three = const 3 : i32
  %one = const 1 : i32
  %a = for %i: i32 = %three, %z, %one carry(%c: f32 = %x) -> (f32) {
    print "never"
    yield %y
  }
  %r = for %j: i32 = %n, %n, %one carry(%d: f32 = %a) -> (f32) {
    print "never"
    yield %y
  }
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 y: f32, %3 n: i32) {
  %4 = const 0 : i32
  %5 = elem %0, %4 : ref<f32>
  store %5, %1
  return
}
