; Numbers at constant places in rows that are as long as the places say, or longer: by all lanes and by some.
kernel @k(%two: array<i32, 2>, %three: array<f32, 2>, %four: array<f64, 2>, %out: array<f64, 1>) {
  %i = tid 0 : i32
  %c0 = const 0 : i32
  %c1 = const 1 : i32
  %c2 = const 2 : i32
  %c3 = const 3 : i32
  %e0 = elem %two, %i, %c0 : ref<i32>
  %e1 = elem %two, %i, %c1 : ref<i32>
  %a0 = load %e0 : i32
  %a1 = load %e1 : i32
  %f1 = elem %three, %i, %c1 : ref<f32>
  %b1 = load %f1 : f32
  %a = sub %a0, %a1 : i32
  %af = cast %a : f64
  %bf = cast %b1 : f64
  %ab = mul %af, %bf : f64
  %oe = elem %out, %i : ref<f64>
  store %oe, %ab
  %rem = rem %i, %c3 : i32
  %is = ne %rem, %c0 : bool
  if %is -> () {
    %f2 = elem %three, %i, %c2 : ref<f32>
    %b2 = load %f2 : f32
    %g0 = elem %four, %i, %c0 : ref<f64>
    %d0 = load %g0 : f64
    %g3 = elem %four, %i, %c3 : ref<f64>
    %d3 = load %g3 : f64
    %d = sub %d0, %d3 : f64
    %b2d = cast %b2 : f64
    %sum = add %d, %b2d : f64
    %all = add %sum, %ab : f64
    store %oe, %all
    yield
  } else {
    yield
  }
  return
}
