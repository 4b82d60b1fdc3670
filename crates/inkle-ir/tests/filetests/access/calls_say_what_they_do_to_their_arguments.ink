;; test access
; Also by address, and each call for itself.

func @first(%0 x: array<f32, 1>, %1 y: array<f32, 1>) -> (array<f32, 1>) {
  %i = const 0 : i32
  %p = elem %1, %i : ref<f32>
  %v = load %p : f32
  return %0
}

func @put(%0 at: ref<f32>, %1 v: f32) {
  store %0, %1
  return
}

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>, %2 c: array<f32, 1>) {
  %i = const 0 : i32
  %x = const 1.0 : f32
  %r = call @first(%0, %1) : array<f32, 1>
  %s = call @first(%2, %2) : array<f32, 1>
  %p = elem %r, %i : ref<f32>
  call @put(%p, %x)
  return
}

;; expect:
; a: written
; b: read
; c: read
; other memory: nothing
