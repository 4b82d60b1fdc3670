; Division by anything, including zero and minus one; only defined quotients are kept.
kernel @k(%x: array<i32, 1>, %y: array<i32, 1>, %out: array<i32, 1>, %l: array<i64, 1>, %u: array<u32, 1>, %s: array<i8, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<i32>
  %a = load %xe : i32
  %ye = elem %y, %i : ref<i32>
  %b = load %ye : i32
  %zero = const 0 : i32
  %min = const -2147483648 : i32
  %m1 = const -1 : i32
  %q = div %a, %b : i32
  %r = rem %a, %b : i32
  %f = floordiv %a, %b : i32
  %t0 = mul %q, %b : i32
  %t1 = add %t0, %r : i32
  %t2 = xor %t1, %f : i32
  %nz = ne %b, %zero : bool
  %is_min = eq %a, %min : bool
  %is_m1 = eq %b, %m1 : bool
  %over = and %is_min, %is_m1 : bool
  %fine = not %over : bool
  %ok = and %nz, %fine : bool
  %res = select %ok, %t2, %zero : i32
  %oe = elem %out, %i : ref<i32>
  store %oe, %res
  %al = cast %a : i64
  %bl = cast %b : i64
  %ql = floordiv %al, %bl : i64
  %zl = cast %zero : i64
  %rl = select %ok, %ql, %zl : i64
  %le = elem %l, %i : ref<i64>
  store %le, %rl
  %au = cast %a : u32
  %bu = cast %b : u32
  %qu = div %au, %bu : u32
  %ru = rem %au, %bu : u32
  %su = xor %qu, %ru : u32
  %zu = cast %zero : u32
  %xu = select %nz, %su, %zu : u32
  %ue = elem %u, %i : ref<u32>
  store %ue, %xu
  %a8 = cast %a : i8
  %c7 = const 7 : i8
  %q8 = floordiv %a8, %c7 : i8
  %se = elem %s, %i : ref<i8>
  store %se, %q8
  return
}
