;; test access

kernel @k(%0 a: array<f32, 1>, %1 ids: indexedarray<f32, 1>) {
  %i = const 0 : i32
  %mine = local 4 : array<f32, 1>
  %p = elem %1, %i : ref<f32>
  %x = load %p : f32
  %m = elem %mine, %i : ref<f32>
  store %m, %x
  return
}

;; expect:
; a: nothing
; ids: read
; other memory: nothing
