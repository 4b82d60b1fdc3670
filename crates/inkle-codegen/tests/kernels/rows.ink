; Three dimensions: every thread writes its coordinates and the extents.
kernel @k(%out: array<i32, 3>, %seen: array<i32, 1>) {
  %i = tid 0 : i32
  %j = tid 1 : i32
  %k = tid 2 : i32
  %e = elem %out, %i, %j, %k : ref<i32>
  %hundred = const 100 : i32
  %dj = launch_dim 1 : i32
  %a = mul %i, %hundred : i32
  %b = add %a, %j : i32
  %c = mul %b, %hundred : i32
  %d = add %c, %k : i32
  %f = add %d, %dj : i32
  store %e, %f
  %zero = const 0 : i32
  %one = const 1 : i32
  %s = elem %seen, %zero : ref<i32>
  %o = atomic_add %s, %one : i32
  return
}
