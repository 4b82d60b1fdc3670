;; test access
; An array made at an address of another one is that one; at a number from elsewhere it is other memory. An address
; that is stored, or cut up, cannot be followed.

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>, %2 c: array<f32, 1>, %3 d: array<u64, 1>, %4 at: u64) {
  %i = const 0 : i32
  %n = const 4 : i32
  %step = const 16 : u64
  %pa = address %0 : u64
  %qa = add %pa, %step : u64
  %va = array_at %qa, %n : array<f32, 1>
  %ea = elem %va, %i : ref<f32>
  %x = load %ea : f32
  %pb = address %1 : u64
  %ed = elem %3, %i : ref<u64>
  store %ed, %pb
  %pc = address %2 : u64
  %low = cast %pc : u32
  %vo = array_at %4, %n : array<f32, 1>
  %eo = elem %vo, %i : ref<f32>
  store %eo, %x
  return
}

;; expect:
; a: read
; b: read and written
; c: read and written
; d: written
; other memory: written
