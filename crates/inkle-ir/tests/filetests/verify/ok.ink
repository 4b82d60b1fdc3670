;; test verify
; A small whole module.

func @f(%0: f32) -> (f32) {
  return %0
}
kernel @k(%x: array<f32, 1>) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<f32>
  %v = load %e : f32
  %w = call @f(%v) : f32
  store %e, %w
  return
}

;; expect:
; ok
