;; test access

struct State { q: array<f32, 1>, n: i32, qd: array<vec<3, f32>, 1> }
struct World { s: struct State, f: array<f32, 1> }

func @swap(%0 w: struct World, %1 f: array<f32, 1>) -> (struct World) {
  %w = insert %0, %1, 1 : struct World
  return %w
}

kernel @k(%0 w: struct World, %1 g: array<f32, 1>) {
  %i = const 0 : i32
  %s = extract %0, 0 : struct State
  %qd = extract %s, 2 : array<vec<3, f32>, 1>
  %p = elem %qd, %i : ref<vec<3, f32>>
  %c = comp %p, %i : ref<f32>
  %v = load %c : f32
  %with = call @swap(%0, %1) : struct World
  %f = extract %with, 1 : array<f32, 1>
  %r = elem %f, %i : ref<f32>
  store %r, %v
  return
}

;; expect:
; w.s.q: nothing
; w.s.qd: read
; w.f: nothing
; g: written
; other memory: nothing
