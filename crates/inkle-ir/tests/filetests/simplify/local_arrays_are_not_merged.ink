;; test simplify

func @make() -> (array<f32, 1>) {
  %a = local 4 : array<f32, 1>
  return %a
}
kernel @k(%o: array<f32, 1>, %i: i32) {
  %a = local 4 : array<f32, 1>
  %b = local 4 : array<f32, 1>
  %c = call @make() : array<f32, 1>
  %d = call @make() : array<f32, 1>
  %ra = elem %a, %i : ref<f32>
  %rb = elem %b, %i : ref<f32>
  %rc = elem %c, %i : ref<f32>
  %rd = elem %d, %i : ref<f32>
  %ro = elem %o, %i : ref<f32>
  %v = load %ro : f32
  store %ra, %v
  %w = load %rb : f32
  store %rc, %w
  %x = load %rd : f32
  store %ro, %x
  return
}

;; expect:
func @make() -> (array<f32, 1>) {
  %0 = local 4 : array<f32, 1>
  return %0
}

kernel @k(%0 o: array<f32, 1>, %1 i: i32) {
  %2 = local 4 : array<f32, 1>
  %3 = local 4 : array<f32, 1>
  %4 = call @make() : array<f32, 1>
  %5 = call @make() : array<f32, 1>
  %6 = elem %2, %1 : ref<f32>
  %7 = elem %3, %1 : ref<f32>
  %8 = elem %4, %1 : ref<f32>
  %9 = elem %5, %1 : ref<f32>
  %10 = elem %0, %1 : ref<f32>
  %11 = load %10 : f32
  store %6, %11
  %12 = load %7 : f32
  store %8, %12
  %13 = load %9 : f32
  store %10, %13
  return
}
