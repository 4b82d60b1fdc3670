; Neighbouring vectors of two, three and four components.
kernel @k(%a: array<vec<2, f32>, 1>, %b: array<vec<3, f32>, 1>, %c: array<quat<f32>, 1>, %s: f32) {
  %i = tid 0 : i32
  %ae = elem %a, %i : ref<vec<2, f32>>
  %av = load %ae : vec<2, f32>
  %be = elem %b, %i : ref<vec<3, f32>>
  %bv = load %be : vec<3, f32>
  %ce = elem %c, %i : ref<quat<f32>>
  %cv = load %ce : quat<f32>
  %a0 = extract %av, 0 : f32
  %a1 = extract %av, 1 : f32
  %b0 = extract %bv, 0 : f32
  %b2 = extract %bv, 2 : f32
  %c3 = extract %cv, 3 : f32
  %x0 = add %a0, %b2 : f32
  %x1 = mul %a1, %c3 : f32
  %na = construct %x1, %x0 : vec<2, f32>
  store %ae, %na
  %nb = construct %c3, %s, %b0 : vec<3, f32>
  store %be, %nb
  %nc = construct %a0, %a1, %b0, %b2 : quat<f32>
  store %ce, %nc
  return
}
