; Edges between points, whose indices count up for a while: more operations than are made twice for the end of a row.
kernel @k(%ends: array<i32, 2>, %x: array<vec<3, f32>, 1>, %q: array<quat<f32>, 1>, %force: array<vec<3, f32>, 1>, %pull: vec<3, f32>, %s: f32, %out: array<vec<3, f32>, 1>, %twist: array<quat<f32>, 1>) {
  %e = tid 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %ie = elem %ends, %e, %zero : ref<i32>
  %i = load %ie : i32
  %je = elem %ends, %e, %one : ref<i32>
  %j0 = load %je : i32
  %n = shape %x, 0 : i32
  %low = lt %j0, %zero : bool
  %back = add %j0, %n : i32
  %j = select %low, %back, %j0 : i32
  %xie = elem %x, %i : ref<vec<3, f32>>
  %xi = load %xie : vec<3, f32>
  %xje = elem %x, %j : ref<vec<3, f32>>
  %xj = load %xje : vec<3, f32>
  %d = sub %xj, %xi : vec<3, f32>
  %ss = construct %s, %s, %s : vec<3, f32>
  %ds = mul %d, %ss : vec<3, f32>
  %qie = elem %q, %i : ref<quat<f32>>
  %qi = load %qie : quat<f32>
  %qje = elem %q, %j : ref<quat<f32>>
  %qj = load %qje : quat<f32>
  %m = max %qi, %qj : quat<f32>
  %moved = add %ds, %pull : vec<3, f32>
  %away = neg %moved : vec<3, f32>
  %oe = elem %out, %e : ref<vec<3, f32>>
  store %oe, %away
  %d0 = extract %d, 0 : f32
  %d1 = extract %d, 1 : f32
  %d2 = extract %d, 2 : f32
  %m3 = extract %m, 3 : f32
  %p0 = mul %d0, %m3 : f32
  %p1 = mul %d1, %m3 : f32
  %p2 = mul %d2, %m3 : f32
  %r0 = add %p0, %d1 : f32
  %r1 = add %p1, %d2 : f32
  %r2 = add %p2, %d0 : f32
  %t0 = add %r0, %r1 : f32
  %t1 = add %r1, %r2 : f32
  %t2 = add %r2, %r0 : f32
  %u0 = min %t0, %p1 : f32
  %u1 = min %t1, %p2 : f32
  %u2 = min %t2, %p0 : f32
  %w0 = add %u0, %d2 : f32
  %w1 = add %u1, %d0 : f32
  %w2 = add %u2, %d1 : f32
  %f0 = construct %w0, %w1, %w2 : vec<3, f32>
  %f = add %f0, %moved : vec<3, f32>
  %fie = elem %force, %i : ref<vec<3, f32>>
  %o1 = atomic_add %fie, %f : vec<3, f32>
  %fje = elem %force, %j : ref<vec<3, f32>>
  %o2 = atomic_sub %fje, %f : vec<3, f32>
  %pullie = elem %force, %i : ref<vec<3, f32>>
  %o3 = atomic_add %pullie, %away : vec<3, f32>
  %te = elem %twist, %j : ref<quat<f32>>
  %o4 = atomic_add %te, %m : quat<f32>
  %three = const 3 : i32
  %rem = rem %e, %three : i32
  %is = ne %rem, %zero : bool
  if %is -> () {
    %tie = elem %twist, %i : ref<quat<f32>>
    %low4 = min %qi, %qj : quat<f32>
    %o5 = atomic_add %tie, %low4 : quat<f32>
    yield
  } else {
    yield
  }
  return
}
