; Functions of angles of which some are so large that the runtime reduces them, while many values are alive.
kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 out: array<f32, 1>) {
  %i = tid 0 : i32
  %xe = elem %0, %i : ref<f32>
  %x = load %xe : f32
  %ye = elem %1, %i : ref<f32>
  %y = load %ye : f32
  %lo = const 0 : i32
  %hi = const 3 : i32
  %one = const 1 : i32
  %half = const 0.5 : f32
  %a = add %x, %y : f32
  %b = sub %x, %y : f32
  %c = mul %x, %half : f32
  %d = mul %y, %half : f32
  %r = for %j: i32 = %lo, %hi, %one carry(%sum: f32 = %half) -> (f32) {
    %s = sin %x : f32
    %t = cos %a : f32
    %u = tan %c : f32
    %m = lt %s, %t : bool
    %v = if %m -> (f32) {
      %w = sin %b : f32
      %w1 = mul %w, %d : f32
      yield %w1
    } else {
      %z = cos %d : f32
      %z1 = sub %z, %y : f32
      yield %z1
    }
    %s1 = add %sum, %s : f32
    %s2 = add %s1, %t : f32
    %s3 = add %s2, %u : f32
    %s4 = add %s3, %v : f32
    yield %s4
  }
  %p = add %r, %a : f32
  %q = sub %p, %b : f32
  %q1 = add %q, %c : f32
  %q2 = sub %q1, %d : f32
  %oe = elem %2, %i : ref<f32>
  store %oe, %q2
  return
}
