; Forces of all bodies on each: a uniform loop of uniform loads.
kernel @nbody(%pos: array<vec<3, f32>, 1>, %acc: array<vec<3, f32>, 1>, %soft: f32) {
  %i = tid 0 : i32
  %e = elem %pos, %i : ref<vec<3, f32>>
  %p = load %e : vec<3, f32>
  %n = shape %pos, 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %z = zero : vec<3, f32>
  %f = for %j: i32 = %zero, %n, %one carry(%a: vec<3, f32> = %z) -> (vec<3, f32>) {
    %qe = elem %pos, %j : ref<vec<3, f32>>
    %q = load %qe : vec<3, f32>
    %d = sub %q, %p : vec<3, f32>
    %dx = extract %d, 0 : f32
    %dy = extract %d, 1 : f32
    %dz = extract %d, 2 : f32
    %xx = mul %dx, %dx : f32
    %yy = mul %dy, %dy : f32
    %zz = mul %dz, %dz : f32
    %s0 = add %xx, %yy : f32
    %s1 = add %s0, %zz : f32
    %s2 = add %s1, %soft : f32
    %root = sqrt %s2 : f32
    %unit = const 1.0 : f32
    %inv = div %unit, %root : f32
    %i2 = mul %inv, %inv : f32
    %i3 = mul %i2, %inv : f32
    %w = construct %i3, %i3, %i3 : vec<3, f32>
    %dw = mul %d, %w : vec<3, f32>
    %a2 = add %a, %dw : vec<3, f32>
    yield %a2
  }
  %o = elem %acc, %i : ref<vec<3, f32>>
  store %o, %f
  return
}
