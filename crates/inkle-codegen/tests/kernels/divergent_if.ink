; Both sides store and load; one side is nested.
kernel @k(%x: array<f32, 1>, %y: array<f32, 1>, %n: i32) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<f32>
  %v = load %e : f32
  %zero = const 0.0 : f32
  %half = const 0.5 : f32
  %pos = gt %v, %zero : bool
  %o = elem %y, %i : ref<f32>
  %r = if %pos -> (f32) {
    %big = gt %v, %half : bool
    %q = if %big -> (f32) {
      store %o, %v
      %s = sqrt %v : f32
      yield %s
    } else {
      %was = load %o : f32
      %t = add %was, %v : f32
      yield %t
    }
    yield %q
  } else {
    %m = neg %v : f32
    %d = div %m, %half : f32
    yield %d
  }
  %old = load %o : f32
  %sum = add %old, %r : f32
  store %o, %sum
  return
}
