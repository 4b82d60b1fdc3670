; Neighbouring vectors of which some lanes are read and written, in a kernel too large to be emitted twice.
kernel @k(%a: array<vec<2, f32>, 1>, %b: array<vec<3, f32>, 1>, %c: array<quat<f32>, 1>, %s: f32) {
  %i = tid 0 : i32
  %ae = elem %a, %i : ref<vec<2, f32>>
  %av = load %ae : vec<2, f32>
  %be = elem %b, %i : ref<vec<3, f32>>
  %ce = elem %c, %i : ref<quat<f32>>
  %a0 = extract %av, 0 : f32
  %a1 = extract %av, 1 : f32
  %half = const 0.5 : f32
  %some = lt %a0, %half : bool
  if %some {
    %bv = load %be : vec<3, f32>
    %cv = load %ce : quat<f32>
    %b0 = extract %bv, 0 : f32
    %b2 = extract %bv, 2 : f32
    %c3 = extract %cv, 3 : f32
    %p0 = mul %a1, %c3 : f32
    %q0 = add %p0, %b0 : f32
    %p1 = mul %q0, %c3 : f32
    %q1 = add %p1, %b0 : f32
    %p2 = mul %q1, %c3 : f32
    %q2 = add %p2, %b0 : f32
    %p3 = mul %q2, %c3 : f32
    %q3 = add %p3, %b0 : f32
    %p4 = mul %q3, %c3 : f32
    %q4 = add %p4, %b0 : f32
    %p5 = mul %q4, %c3 : f32
    %q5 = add %p5, %b0 : f32
    %p6 = mul %q5, %c3 : f32
    %q6 = add %p6, %b0 : f32
    %p7 = mul %q6, %c3 : f32
    %q7 = add %p7, %b0 : f32
    %p8 = mul %q7, %c3 : f32
    %q8 = add %p8, %b0 : f32
    %p9 = mul %q8, %c3 : f32
    %q9 = add %p9, %b0 : f32
    %p10 = mul %q9, %c3 : f32
    %q10 = add %p10, %b0 : f32
    %p11 = mul %q10, %c3 : f32
    %q11 = add %p11, %b0 : f32
    %p12 = mul %q11, %c3 : f32
    %q12 = add %p12, %b0 : f32
    %p13 = mul %q12, %c3 : f32
    %q13 = add %p13, %b0 : f32
    %p14 = mul %q13, %c3 : f32
    %q14 = add %p14, %b0 : f32
    %p15 = mul %q14, %c3 : f32
    %q15 = add %p15, %b0 : f32
    %p16 = mul %q15, %c3 : f32
    %q16 = add %p16, %b0 : f32
    %p17 = mul %q16, %c3 : f32
    %q17 = add %p17, %b0 : f32
    %p18 = mul %q17, %c3 : f32
    %q18 = add %p18, %b0 : f32
    %p19 = mul %q18, %c3 : f32
    %q19 = add %p19, %b0 : f32
    %p20 = mul %q19, %c3 : f32
    %q20 = add %p20, %b0 : f32
    %p21 = mul %q20, %c3 : f32
    %q21 = add %p21, %b0 : f32
    %p22 = mul %q21, %c3 : f32
    %q22 = add %p22, %b0 : f32
    %p23 = mul %q22, %c3 : f32
    %q23 = add %p23, %b0 : f32
    %p24 = mul %q23, %c3 : f32
    %q24 = add %p24, %b0 : f32
    %p25 = mul %q24, %c3 : f32
    %q25 = add %p25, %b0 : f32
    %p26 = mul %q25, %c3 : f32
    %q26 = add %p26, %b0 : f32
    %p27 = mul %q26, %c3 : f32
    %q27 = add %p27, %b0 : f32
    %p28 = mul %q27, %c3 : f32
    %q28 = add %p28, %b0 : f32
    %p29 = mul %q28, %c3 : f32
    %q29 = add %p29, %b0 : f32
    %p30 = mul %q29, %c3 : f32
    %q30 = add %p30, %b0 : f32
    %p31 = mul %q30, %c3 : f32
    %q31 = add %p31, %b0 : f32
    %p32 = mul %q31, %c3 : f32
    %q32 = add %p32, %b0 : f32
    %p33 = mul %q32, %c3 : f32
    %q33 = add %p33, %b0 : f32
    %p34 = mul %q33, %c3 : f32
    %q34 = add %p34, %b0 : f32
    %p35 = mul %q34, %c3 : f32
    %q35 = add %p35, %b0 : f32
    %p36 = mul %q35, %c3 : f32
    %q36 = add %p36, %b0 : f32
    %p37 = mul %q36, %c3 : f32
    %q37 = add %p37, %b0 : f32
    %p38 = mul %q37, %c3 : f32
    %q38 = add %p38, %b0 : f32
    %p39 = mul %q38, %c3 : f32
    %q39 = add %p39, %b0 : f32
    %nb = construct %c3, %q39, %b0 : vec<3, f32>
    store %be, %nb
    %nc = construct %a0, %q39, %b0, %b2 : quat<f32>
    store %ce, %nc
    yield
  } else {
    yield
  }
  %na = construct %a1, %a0 : vec<2, f32>
  store %ae, %na
  return
}
