; Elements of several parts at indices that count up for a while: read, written and updated, by some lanes and by all.
kernel @k(%ix: array<i32, 1>, %v: array<vec<3, f32>, 1>, %w: array<vec<2, f64>, 1>, %q: array<quat<f32>, 1>, %sums: array<vec<3, f32>, 1>, %most: array<vec<2, i32>, 1>, %out: array<vec<3, f32>, 1>, %some: array<vec<3, f32>, 1>, %copy: array<vec<3, f32>, 1>) {
  %i = tid 0 : i32
  %zero = const 0 : i32
  %e = elem %ix, %i : ref<i32>
  %plain = load %e : i32
  %n = shape %v, 0 : i32
  %low = lt %plain, %zero : bool
  %back = add %plain, %n : i32
  %j = select %low, %back, %plain : i32
  %ve = elem %v, %j : ref<vec<3, f32>>
  %a = load %ve : vec<3, f32>
  %we = elem %w, %j : ref<vec<2, f64>>
  %b = load %we : vec<2, f64>
  %qe = elem %q, %j : ref<quat<f32>>
  %c = load %qe : quat<f32>
  %b0 = extract %b, 1 : f64
  %b1 = cast %b0 : f32
  %c0 = extract %c, 3 : f32
  %bc = construct %b1, %c0, %c0 : vec<3, f32>
  %r = add %a, %bc : vec<3, f32>
  %se = elem %sums, %j : ref<vec<3, f32>>
  %o1 = atomic_add %se, %a : vec<3, f32>
  %m = construct %i, %plain : vec<2, i32>
  %me = elem %most, %j : ref<vec<2, i32>>
  %o2 = atomic_max %me, %m : vec<2, i32>
  %oe = elem %out, %i : ref<vec<3, f32>>
  store %oe, %r
  %ce = elem %copy, %j : ref<vec<3, f32>>
  store %ce, %a
  %three = const 3 : i32
  %rem = rem %i, %three : i32
  %is = ne %rem, %zero : bool
  if %is -> () {
    %xe = elem %some, %j : ref<vec<3, f32>>
    %te = elem %v, %j : ref<vec<3, f32>>
    %t = load %te : vec<3, f32>
    %o3 = atomic_sub %xe, %t : vec<3, f32>
    yield
  } else {
    yield
  }
  return
}
