;; test access
; What a branch yields, and what a loop carries, may be any of what goes in.

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>, %2 c: array<f32, 1>, %3 d: array<f32, 1>, %4 n: i32, %5 f: bool) {
  %i = const 0 : i32
  %one = const 1 : i32
  %x = const 1.0 : f32
  %chosen = if %5 -> (array<f32, 1>) {
    yield %0
  } else {
    yield %1
  }
  %p = elem %chosen, %i : ref<f32>
  store %p, %x
  %last, %first = for %k: i32 = %i, %4, %one carry(%u: array<f32, 1> = %2, %v: array<f32, 1> = %3) -> (array<f32, 1>, array<f32, 1>) {
    %q = elem %u, %k : ref<f32>
    %y = load %q : f32
    yield %v, %u
  }
  return
}

;; expect:
; a: written
; b: written
; c: read
; d: read
; other memory: nothing
