;; test verify

kernel @k(%x: f32, %o: array<f32, 1>, %i: i32) {
  add %x, %x
  %a, %b = add %x, %x : f32, f32
  %e = elem %o, %i : ref<f32>
  %c = store %e, %x : f32
  %d = for %j: i32 = %i, %i, %i -> (i32) {
    yield
  }
  atomic_add %e, %x
  return
}

;; expect:
; V013: @k, `add %0, %0`: gives 1 value, not 0
; V013: @k, `%3, %4 = add %0, %0 : f32, f32`: gives 1 value, not 2
; V013: @k, `%6 = store %5, %0 : f32`: gives nothing
; V013: @k, `%7 = for %8: i32 = %2, %2, %2 -> (i32)`: gives 0 values, not 1
; V013: @k, `atomic_add %5, %0`: gives 1 value, not 0
