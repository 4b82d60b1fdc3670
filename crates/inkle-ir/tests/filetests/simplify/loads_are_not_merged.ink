;; test simplify common
; A store, or another thread, may come between.

kernel @k(%o: array<f32, 1>) {
  %z = const 0 : i32
  %p = elem %o, %z : ref<f32>
  %a = load %p : f32
  %b = load %p : f32
  %r = add %a, %b : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<f32>
  %3 = load %2 : f32
  %4 = load %2 : f32
  %5 = add %3, %4 : f32
  store %2, %5
  return
}
