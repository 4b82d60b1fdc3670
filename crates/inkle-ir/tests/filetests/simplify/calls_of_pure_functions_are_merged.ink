;; test simplify common

func @square(%x: f32) -> (f32) {
  %a = mul %x, %x : f32
  return %a
}
func @read(%p: ref<f32>) -> (f32) {
  %a = load %p : f32
  return %a
}
kernel @k(%o: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %p = elem %o, %z : ref<f32>
  %a = call @square(%x) : f32
  %b = call @square(%x) : f32
  %c = call @read(%p) : f32
  %d = call @read(%p) : f32
  %f = add %a, %b : f32
  %g = add %c, %d : f32
  %r = add %f, %g : f32
  %at = elem %o, %z : ref<f32>
  store %at, %r
  return
}

;; expect:
func @square(%0 x: f32) -> (f32) {
  %1 = mul %0, %0 : f32
  return %1
}

func @read(%0 p: ref<f32>) -> (f32) {
  %1 = load %0 : f32
  return %1
}

kernel @k(%0 o: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = call @square(%1) : f32
  %5 = call @read(%3) : f32
  %6 = call @read(%3) : f32
  %7 = add %4, %4 : f32
  %8 = add %5, %6 : f32
  %9 = add %7, %8 : f32
  store %3, %9
  return
}
