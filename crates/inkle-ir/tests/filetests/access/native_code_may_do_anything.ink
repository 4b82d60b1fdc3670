;; test access

native @snippet(%0 x: array<f32, 1>) "x[0] = 1.0f;"

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>) {
  call @snippet(%0)
  return
}

;; expect:
; a: read and written
; b: nothing
; other memory: read and written
