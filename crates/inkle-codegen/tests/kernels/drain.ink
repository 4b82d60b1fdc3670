; What elements held is added up after they are overwritten.
kernel @k(%o: array<f32, 1>, %p: array<f64, 1>, %c: array<f32, 1>, %d: array<f64, 1>, %least: array<f32, 1>) {
  %i = tid 0 : i32
  %zero = const 0 : i32
  %nothing = const 0.0 : f32
  %oe = elem %o, %i : ref<f32>
  %g = load %oe : f32
  store %oe, %nothing
  %ce = elem %c, %zero : ref<f32>
  %o1 = atomic_add %ce, %g : f32
  %pe = elem %p, %i : ref<f64>
  %h = load %pe : f64
  %wide = cast %g : f64
  store %pe, %wide
  %de = elem %d, %zero : ref<f64>
  %o2 = atomic_add %de, %h : f64
  %low = const 3.0 : f32
  %few = lt %g, %low : bool
  %kept = if %few -> (f32) {
    %e = elem %o, %i : ref<f32>
    %a = load %e : f32
    store %e, %low
    yield %a
  } else {
    yield %low
  }
  %le = elem %least, %i : ref<f32>
  store %le, %kept
  return
}
