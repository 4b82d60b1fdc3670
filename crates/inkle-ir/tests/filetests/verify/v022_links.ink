; Linked functions have the signatures that links ask for.
;; test verify

func @f(%0 x: f32, %1 a: array<f32, 1>) -> (f32) gradient @g replay @r {
  return %0
}

func @g(%0 x: f32, %1 a: array<f32, 1>, %2 adj: f32, %3 dx: f32, %4 da: array<f32, 1>) -> (f32) {
  return %3
}

func @r(%0 x: f32) -> (f32) {
  return %0
}

func @d(%0 x: f32, %1 a: array<f32, 1>) -> (f32, f32) derivative @f {
  return %0, %0
}

func @h(%0 x: f32) -> (f32) gradient @g {
  return %0
}

kernel @k() {
  return
}

;; expect:
; V022: @f: its replay @r has another signature
; V022: @d: a derivative gives a value for each parameter that is no array
; V022: @h: its gradient @g has another signature
