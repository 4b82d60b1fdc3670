; Neighbours by indices that count from the end where they are negative: numbers and vectors, read and written, with and
; without a mask.
kernel @k(%x: array<f32, 1>, %v: array<vec<3, f32>, 1>, %y: array<f32, 1>, %w: array<vec<3, f32>, 1>) {
  %i = tid 0 : i32
  %zero = const 0 : i32
  %two = const 2 : i32
  %five = const 5 : i32
  %n = shape %x, 0 : i32
  %a = sub %i, %two : i32
  %a_end = add %a, %n : i32
  %a_low = lt %a, %zero : bool
  %at = select %a_low, %a_end, %a : i32
  %b = sub %i, %five : i32
  %b_end = add %b, %n : i32
  %b_low = lt %b, %zero : bool
  %bt = select %b_low, %b_end, %b : i32
  %xe = elem %x, %at : ref<f32>
  %xv = load %xe : f32
  %ye = elem %y, %bt : ref<f32>
  store %ye, %xv
  %half = const 0.5 : f32
  %some = lt %xv, %half : bool
  if %some {
    %ve = elem %v, %bt : ref<vec<3, f32>>
    %vv = load %ve : vec<3, f32>
    %we = elem %w, %at : ref<vec<3, f32>>
    store %we, %vv
    yield
  } else {
    yield
  }
  return
}
