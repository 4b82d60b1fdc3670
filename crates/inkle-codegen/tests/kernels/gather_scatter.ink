; Reads and writes through an index list, of several element types and of a column of a matrix.
kernel @k(%ix: array<i32, 1>, %v: array<vec<3, f32>, 1>, %b: array<bool, 1>, %m: array<f32, 2>, %out: array<vec<3, f32>, 1>, %flag: array<bool, 1>, %h: array<f16, 1>, %w: array<f64, 1>) {
  %i = tid 0 : i32
  %one = const 1 : i32
  %e = elem %ix, %i : ref<i32>
  %j = load %e : i32
  %ve = elem %v, %j : ref<vec<3, f32>>
  %a = load %ve : vec<3, f32>
  %be = elem %b, %j : ref<bool>
  %f = load %be : bool
  %me = elem %m, %j, %one : ref<f32>
  %s = load %me : f32
  %me2 = elem %m, %one, %j : ref<f32>
  %s2 = load %me2 : f32
  %ss = add %s, %s2 : f32
  %sv = construct %ss, %s, %s2 : vec<3, f32>
  %r0 = add %a, %sv : vec<3, f32>
  %r = select %f, %r0, %a : vec<3, f32>
  %oe = elem %out, %j : ref<vec<3, f32>>
  store %oe, %r
  %nf = not %f : bool
  %fe = elem %flag, %j : ref<bool>
  store %fe, %nf
  %he = elem %h, %j : ref<f16>
  %hv = load %he : f16
  %h2 = mul %hv, %hv : f16
  store %he, %h2
  %hw = cast %h2 : f64
  %we = elem %w, %i : ref<f64>
  store %we, %hw
  return
}
