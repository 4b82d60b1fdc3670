; Indexed arrays in two dimensions, one with a list and one without, and views of them.
kernel @k(%a: indexedarray<f32, 2>, %out: array<f32, 2>) {
  %i = tid 0 : i32
  %j = tid 1 : i32
  %e = elem %a, %i, %j : ref<f32>
  %v = load %e : f32
  %row = view %a, %i, 0 : indexedarray<f32, 1>
  %n = shape %row, 0 : i32
  %one = const 1 : i32
  %last0 = sub %n, %one : i32
  %last = sub %last0, %j : i32
  %re = elem %row, %last : ref<f32>
  %w = load %re : f32
  %s = add %v, %w : f32
  %orow = view %out, %i, 0 : array<f32, 1>
  %oe = elem %orow, %j : ref<f32>
  store %oe, %s
  return
}
