;; test access
; What is found through an array of addresses counts as that array's.

kernel @k(%0 a: fabricarray<f32, 1>, %1 b: fabricarray<f32, 1>, %2 c: array<u64, 1>) {
  %i = const 0 : i32
  %n = const 4 : i32
  %ta = extract %0, 0 : array<u64, 2>
  %pa = elem %ta, %i, %i : ref<u64>
  %bucket = load %pa : u64
  %va = array_at %bucket, %n : array<f32, 1>
  %ea = elem %va, %i : ref<f32>
  %x = load %ea : f32
  %tb = extract %1, 0 : array<u64, 2>
  %pb = elem %tb, %i, %i : ref<u64>
  %at = load %pb : u64
  %vb = array_at %at, %n : array<f32, 1>
  %eb = elem %vb, %i : ref<f32>
  store %eb, %x
  return
}

;; expect:
; a: read
; a: nothing
; b: read and written
; b: nothing
; c: nothing
; other memory: read and written
