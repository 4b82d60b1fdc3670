; Elements of all sizes, each moved in accesses of 16 bytes where lanes share a GPU thread.
kernel @k(%f: array<f32, 1>, %v: array<vec<3, f32>, 1>, %b: array<bool, 1>, %h: array<i16, 1>, %m: array<mat<3x3, f32>, 1>, %s: f32) {
  %i = tid 0 : i32
  %fe = elem %f, %i : ref<f32>
  %fv = load %fe : f32
  %ve = elem %v, %i : ref<vec<3, f32>>
  %vv = load %ve : vec<3, f32>
  %be = elem %b, %i : ref<bool>
  %bv = load %be : bool
  %he = elem %h, %i : ref<i16>
  %hv = load %he : i16
  %me = elem %m, %i : ref<mat<3x3, f32>>
  %mv = load %me : mat<3x3, f32>
  %v0 = extract %vv, 0 : f32
  %v1 = extract %vv, 1 : f32
  %v2 = extract %vv, 2 : f32
  %m1 = extract %mv, 1 : f32
  %m8 = extract %mv, 8 : f32
  %t = cast %i : f32
  %hf = cast %hv : f32
  %x = mul %v0, %s : f32
  %y = add %v1, %t : f32
  %z = select %bv, %v2, %hf : f32
  %small = lt %fv, %s : bool
  %d = if %small -> (f32) {
    %e = add %m1, %y : f32
    yield %e
  } else {
    yield %m8
  }
  %nv = construct %z, %x, %y : vec<3, f32>
  store %ve, %nv
  %nm = add %mv, %mv : mat<3x3, f32>
  store %me, %nm
  %nb = gt %d, %fv : bool
  store %be, %nb
  %k = cast %i : i16
  %nh = div %hv, %k : i16
  store %he, %nh
  store %fe, %d
  return
}
