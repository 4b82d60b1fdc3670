; Links are printed after the results.
;; test print

func @f(%0 x: f32) -> (f32) gradient @g replay @r {
  return %0
}

func @g(%0 x: f32, %1 adj: f32, %2 dx: f32) -> (f32) {
  return %1
}

func @r(%0 x: f32) -> (f32) {
  return %0
}

func @d(%0 x: f32) -> (f32) derivative @f {
  return %0
}

kernel @k() {
  return
}

;; expect:
func @f(%0 x: f32) -> (f32) gradient @g replay @r {
  return %0
}

func @g(%0 x: f32, %1 adj: f32, %2 dx: f32) -> (f32) {
  return %1
}

func @r(%0 x: f32) -> (f32) {
  return %0
}

func @d(%0 x: f32) -> (f32) derivative @f {
  return %0
}

kernel @k() {
  return
}
