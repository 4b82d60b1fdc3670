;; test simplify
; Only operations that are correctly rounded; each in its own format.

kernel @k(%o: array<f32, 1>) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<f32>
  %a = const 0.1 : f32
  %b = const 0.2 : f32
  %c = add %a, %b : f32
  store %e, %c
  %d = sqrt %b : f32
  store %e, %d
  %f = min %a, %b : f32
  store %e, %f
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<f32>
  %3 = const 0.1 : f32
  %4 = const 0.3 : f32
  store %2, %4
  %5 = const 0.4472136 : f32
  store %2, %5
  store %2, %3
  return
}
