; The gradient of a function that is called is reached; what is linked to a function that is not, is dropped with it.
;; test simplify functions

func @unused(%0 x: f32) -> (f32) gradient @g {
  return %0
}

func @other(%0 x: f32, %1 adj: f32, %2 dx: f32) -> (f32) {
  return %1
}

func @f(%0 x: f32) -> (f32) gradient @g {
  return %0
}

func @g(%0 x: f32, %1 adj: f32, %2 dx: f32) -> (f32) {
  return %1
}

kernel @k(%0 x: f32) {
  %1 = call @f(%0) : f32
  return
}

;; expect:
func @f(%0 x: f32) -> (f32) gradient @g {
  return %0
}

func @g(%0 x: f32, %1 adj: f32, %2 dx: f32) -> (f32) {
  return %1
}

kernel @k(%0 x: f32) {
  %1 = call @f(%0) : f32
  return
}
