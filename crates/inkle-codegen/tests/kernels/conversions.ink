; Conversions between all families, through f16 and bf16.
kernel @k(%x: array<f64, 1>, %h: array<f16, 1>, %b: array<bf16, 1>, %i8s: array<i8, 1>, %u64s: array<u64, 1>, %i32s: array<i32, 1>, %f: array<f32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f64>
  %d = load %xe : f64
  %s = cast %d : f32
  %hd = cast %d : f16
  %he = elem %h, %i : ref<f16>
  store %he, %hd
  %bd = cast %d : bf16
  %be = elem %b, %i : ref<bf16>
  store %be, %bd
  %c = cast %s : i8
  %ce = elem %i8s, %i : ref<i8>
  store %ce, %c
  %u = cast %d : u64
  %ue = elem %u64s, %i : ref<u64>
  store %ue, %u
  %n = cast %hd : i32
  %bn = cast %bd : i32
  %m = xor %n, %bn : i32
  %t = cast %m : bool
  %tf = cast %t : f32
  %ne = elem %i32s, %i : ref<i32>
  store %ne, %m
  %mh = cast %m : f16
  %mf = cast %mh : f32
  %ub = cast %u : bf16
  %uf = cast %ub : f32
  %half_sum = add %hd, %mh : f16
  %hs = cast %half_sum : f32
  %b_sum = mul %bd, %ub : bf16
  %bs = cast %b_sum : f32
  %r0 = add %mf, %tf : f32
  %r1 = add %r0, %uf : f32
  %r2 = add %r1, %hs : f32
  %r3 = add %r2, %bs : f32
  %fe = elem %f, %i : ref<f32>
  store %fe, %r3
  return
}
