; Every function of the math library, in f32, f64 and f16.
kernel @k(%x: array<f32, 1>, %out: array<f32, 1>, %d: array<f64, 1>, %h: array<f16, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %a = sin %v : f32
  %b = cos %v : f32
  %c = tan %v : f32
  %d1 = asin %v : f32
  %e1 = acos %v : f32
  %f1 = atan %v : f32
  %g1 = sinh %v : f32
  %h1 = cosh %v : f32
  %i1 = tanh %v : f32
  %j1 = exp %v : f32
  %k1 = exp2 %v : f32
  %p = abs %v : f32
  %l1 = log %p : f32
  %m1 = log2 %p : f32
  %n1 = log10 %p : f32
  %o1 = cbrt %v : f32
  %p1 = erf %v : f32
  %q1 = erfc %v : f32
  %r1 = erfinv %v : f32
  %s1 = erfcinv %p : f32
  %t1 = pow %p, %v : f32
  %u1 = atan2 %v, %a : f32
  %two = const 0.3 : f32
  %w1 = rem %v, %two : f32
  %z0 = add %a, %b : f32
  %z1 = add %z0, %c : f32
  %z2 = add %z1, %d1 : f32
  %z3 = add %z2, %e1 : f32
  %z4 = add %z3, %f1 : f32
  %z5 = add %z4, %g1 : f32
  %z6 = add %z5, %h1 : f32
  %z7 = add %z6, %i1 : f32
  %z8 = add %z7, %j1 : f32
  %z9 = add %z8, %k1 : f32
  %y0 = add %z9, %l1 : f32
  %y1 = add %y0, %m1 : f32
  %y2 = add %y1, %n1 : f32
  %y3 = add %y2, %o1 : f32
  %y4 = add %y3, %p1 : f32
  %y5 = add %y4, %q1 : f32
  %y6 = add %y5, %r1 : f32
  %y7 = add %y6, %s1 : f32
  %y8 = add %y7, %t1 : f32
  %y9 = add %y8, %u1 : f32
  %x1 = add %y9, %w1 : f32
  %oe = elem %out, %i : ref<f32>
  store %oe, %x1
  %vd = cast %v : f64
  %da = sin %vd : f64
  %db = exp %vd : f64
  %dp = abs %vd : f64
  %dc = pow %dp, %da : f64
  %dd = atan2 %dc, %db : f64
  %de = elem %d, %i : ref<f64>
  store %de, %dd
  %vh = cast %v : f16
  %hh = sin %vh : f16
  %he = elem %h, %i : ref<f16>
  store %he, %hh
  return
}
