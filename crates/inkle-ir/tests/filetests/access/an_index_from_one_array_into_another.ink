;; test access
; A 64-bit index that is loaded, computed with and stored is no address.

kernel @k(%0 ids: array<u64, 1>, %1 x: array<u64, 1>, %2 out: array<u64, 1>, %3 seed: u64) {
  %i = tid 0 : i32
  %p = elem %0, %i : ref<u64>
  %id = load %p : u64
  %j = cast %id : i64
  %q = elem %1, %j : ref<u64>
  %v = load %q : u64
  %w = xor %v, %3 : u64
  %r = elem %2, %j : ref<u64>
  store %r, %w
  return
}

;; expect:
; ids: read
; x: read
; out: written
; other memory: nothing
