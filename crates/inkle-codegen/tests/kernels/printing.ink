kernel @k(%x: array<i32, 1>) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<i32>
  %v = load %xe : i32
  %one = const 1 : i32
  %odd = and %v, %one : i32
  %zero = const 0 : i32
  %is = ne %odd, %zero : bool
  if %is {
    %f = cast %v : f32
    print "%d is %g, 100%%\n", %v, %f
    yield
  } else {
    yield
  }
  assert %is, "must be odd"
  return
}
