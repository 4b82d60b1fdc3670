; Counts by atomics, and a sum into one place.
kernel @histogram(%x: array<i32, 1>, %bins: array<i32, 1>, %total: array<f32, 1>) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<i32>
  %v = load %e : i32
  %mask = const 255 : i32
  %one = const 1 : i32
  %zero = const 0 : i32
  %b = and %v, %mask : i32
  %be = elem %bins, %b : ref<i32>
  %o = atomic_add %be, %one : i32
  %te = elem %total, %zero : ref<f32>
  %f = cast %b : f32
  %p = atomic_add %te, %f : f32
  return
}
