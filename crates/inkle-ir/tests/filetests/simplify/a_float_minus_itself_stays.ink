;; test simplify
; It is NaN for infinities.

kernel @k(%o: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %r = sub %x, %x : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = sub %1, %1 : f32
  %4 = elem %0, %2 : ref<f32>
  store %4, %3
  return
}
