;; test access
; Unless their old values are asked for. A minimum depends on what was there.

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>, %2 c: array<f32, 1>, %3 d: array<f32, 1>, %4 e: array<f32, 1>) {
  %i = tid 0 : i32
  %x = const 1.0 : f32
  %pa = elem %0, %i : ref<f32>
  %oa = atomic_add %pa, %x : f32
  %pb = elem %1, %i : ref<f32>
  %ob = atomic_sub %pb, %x : f32
  %pc = elem %2, %i : ref<f32>
  store %pc, %ob
  %pd = elem %3, %i : ref<f32>
  %od = atomic_min %pd, %x : f32
  %pe = elem %4, %i : ref<f32>
  %oe = atomic_sub %pe, %x : f32
  return
}

;; expect:
; a: read and written for sums in place
; b: read and written
; c: written
; d: read and written
; e: read and written for sums in place
; other memory: nothing
