kernel @saxpy(%x: array<f32, 1>, %y: array<f32, 1>, %a: f32) {
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<f32>
  %xv = load %xe : f32
  %ye = elem %y, %i : ref<f32>
  %yv = load %ye : f32
  %ax = mul %a, %xv : f32
  %r = add %ax, %yv : f32
  store %ye, %r
  return
}
