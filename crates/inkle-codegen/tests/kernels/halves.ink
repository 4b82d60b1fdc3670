; Arithmetic on f16 and bf16 in loops and branches.
kernel @k(%h: array<f16, 1>, %b: array<bf16, 1>) {
  %i = tid 0 : i32
  %he = elem %h, %i : ref<f16>
  %x = load %he : f16
  %be = elem %b, %i : ref<bf16>
  %y = load %be : bf16
  %zero = const 0 : i32
  %three = const 3 : i32
  %one = const 1 : i32
  %k = const 0.75 : f16
  %kb = const 1.5 : bf16
  %p, %q = for %j: i32 = %zero, %three, %one carry(%u: f16 = %x, %w: bf16 = %y) -> (f16, bf16) {
    %u1 = mul %u, %k : f16
    %u2 = add %u1, %x : f16
    %w1 = div %w, %kb : bf16
    %w2 = sub %w1, %y : bf16
    yield %u2, %w2
  }
  %c = lt %p, %k : bool
  %a = abs %q : bf16
  %n = neg %p : f16
  %r = if %c -> (f16) {
    %s = sqrt %n : f16
    yield %s
  } else {
    yield %n
  }
  store %he, %r
  store %be, %a
  return
}
