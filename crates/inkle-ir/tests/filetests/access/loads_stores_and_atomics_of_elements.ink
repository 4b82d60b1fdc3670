;; test access
; What is only asked for its extent is neither read nor written; an array that no operation names is not either.

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 2>, %2 c: array<i32, 1>, %3 d: array<f32, 1>, %4 e: array<f32, 1>, %n: i32) {
  %i = tid 0 : i32
  %pa = elem %0, %i : ref<f32>
  %x = load %pa : f32
  %row = view %1, %i, 0 : array<f32, 1>
  %pb = elem %row, %i : ref<f32>
  store %pb, %x
  %pc = elem %2, %i : ref<i32>
  %old = atomic_add %pc, %n : i32
  %len = shape %3, 0 : i32
  return
}

;; expect:
; a: read
; b: written
; c: read and written for sums in place
; d: nothing
; e: nothing
; other memory: nothing
