; Loops whose bounds, steps or starts differ between threads; uniform loops inside them.
kernel @k(%x: array<i32, 1>, %y: array<i32, 1>, %n: i32) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<i32>
  %v = load %e : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %three = const 3 : i32
  %m3 = const -3 : i32
  %seven = const 7 : i32
  %hi = and %v, %seven : i32
  %a = for %k: i32 = %zero, %hi, %one carry(%s: i32 = %v) -> (i32) {
    %p = mul %s, %three : i32
    %q = add %p, %k : i32
    %w, %w1 = for %j: i32 = %zero, %three, %one carry(%t: i32 = %q, %u: i32 = %zero) -> (i32, i32) {
      %t2 = xor %t, %j : i32
      %u2 = add %u, %j : i32
      yield %t2, %u2
    }
    yield %w
  }
  %b = for %kb: i32 = %hi, %m3, %m3 carry(%sb: i32 = %a) -> (i32) {
    %qb = add %sb, %kb : i32
    yield %qb
  }
  %step = or %hi, %one : i32
  %c = for %kc: i32 = %m3, %seven, %step carry(%sc: i32 = %b) -> (i32) {
    %e2 = elem %x, %zero : ref<i32>
    %first = load %e2 : i32
    %qc = add %sc, %kc : i32
    %q2c = xor %qc, %first : i32
    yield %q2c
  }
  %o = elem %y, %i : ref<i32>
  store %o, %c
  return
}
