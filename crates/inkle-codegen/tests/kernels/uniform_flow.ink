; Branches and loops that all threads take alike, around values that differ.
kernel @k(%x: array<f32, 1>, %mode: i32, %rounds: i32, %last: array<f32, 1>) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<f32>
  %v = load %e : f32
  %one = const 1 : i32
  %zero = const 0 : i32
  %first = eq %mode, %one : bool
  %r, %at = if %first -> (f32, i32) {
    %d = add %v, %v : f32
    yield %d, %i
  } else {
    %two = const 2.0 : f32
    yield %two, %zero
  }
  %s, %k = while carry(%a: f32 = %r, %c: i32 = %zero) -> (f32, i32) {
    %more = lt %c, %rounds : bool
    yield %more
  } do(%a2: f32, %c2: i32) {
    %ce = elem %x, %c2 : ref<f32>
    %cv = load %ce : f32
    %b = add %a2, %cv : f32
    %n = add %c2, %one : i32
    yield %b, %n
  }
  %kf = cast %k : f32
  %t = add %s, %kf : f32
  %le = elem %last, %i : ref<f32>
  %af = cast %at : f32
  %u = add %t, %af : f32
  store %le, %u
  return
}
