; Every operation on floats that is not in the math library, and on integers.
kernel @k(%x: array<f32, 1>, %n: array<i32, 1>, %out: array<f32, 1>, %iout: array<i32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %a = abs %v : f32
  %s = sqrt %a : f32
  %f = floor %v : f32
  %c = ceil %v : f32
  %t = trunc %v : f32
  %r = round %v : f32
  %ri = rint %v : f32
  %two = const 2.0 : f32
  %fd = floordiv %v, %two : f32
  %mn = min %v, %s : f32
  %mx = max %v, %s : f32
  %nan = isnan %v : bool
  %inf = isinf %v : bool
  %fin = isfinite %v : bool
  %e1 = add %f, %c : f32
  %e2 = sub %t, %r : f32
  %e3 = mul %e1, %e2 : f32
  %e4 = add %e3, %ri : f32
  %e5 = add %e4, %fd : f32
  %e6 = sub %mx, %mn : f32
  %e7 = add %e5, %e6 : f32
  %zero = const 0.0 : f32
  %res = select %fin, %e7, %zero : f32
  %oe = elem %out, %i : ref<f32>
  store %oe, %res
  %ne = elem %n, %i : ref<i32>
  %k = load %ne : i32
  %p = popcount %k : i32
  %lz = clz %k : i32
  %tz = ctz %k : i32
  %ab = abs %k : i32
  %iv = invert %k : i32
  %five = const 5 : i32
  %sl = shl %k, %five : i32
  %sr = shr %k, %five : i32
  %q1 = add %p, %lz : i32
  %q2 = add %q1, %tz : i32
  %q3 = xor %q2, %ab : i32
  %q4 = add %q3, %iv : i32
  %q5 = xor %q4, %sl : i32
  %q6 = add %q5, %sr : i32
  %bn = cast %nan : i32
  %bi = cast %inf : i32
  %q7 = add %q6, %bn : i32
  %q8 = sub %q7, %bi : i32
  %mni = min %q8, %k : i32
  %mxi = max %q8, %k : i32
  %q9 = sub %mxi, %mni : i32
  %ie = elem %iout, %i : ref<i32>
  store %ie, %q9
  return
}
