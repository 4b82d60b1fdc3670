; Arrays of a thread's own: passed to functions, made under masks and again in loops, updated by atomics.
func @fill(%a: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %one = const 1 : i32
  %n = shape %a, 0 : i32
  for %k: i32 = %z, %n, %one {
    %f = cast %k : f32
    %v = mul %f, %x : f32
    %e = elem %a, %k : ref<f32>
    %o = atomic_add %e, %v : f32
    yield
  }
  return
}
func @pair(%x: f32) -> (array<f32, 1>) {
  %z = const 0 : i32
  %one = const 1 : i32
  %a = local 2 : array<f32, 1>
  %e = elem %a, %z : ref<f32>
  store %e, %x
  %f = elem %a, %one : ref<f32>
  %o = atomic_sub %f, %x : f32
  return %a
}
kernel @k(%x: array<f32, 1>, %turns: array<i32, 1>, %out: array<f32, 1>, %count: array<i32, 1>) {
  %i = tid 0 : i32
  %z = const 0 : i32
  %one = const 1 : i32
  %two = const 2 : i32
  %five = const 5 : i32
  %zero = const 0.0 : f32
  %xe = elem %x, %i : ref<f32>
  %v = load %xe : f32
  %te = elem %turns, %i : ref<i32>
  %t = load %te : i32
  %grid = local 3, 4 : array<f32, 2>
  %row = view %grid, %one, 0 : array<f32, 1>
  call @fill(%row, %v)
  %column = view %grid, %two, 1 : array<f32, 1>
  call @fill(%column, %v)
  ; A column read backwards, at an index of the thread's own.
  %minus = const -1 : i32
  %three = const 3 : i32
  %back = window %column, %two, %three, %minus, 0 : array<f32, 1>
  %at = rem %t, %three : i32
  %be = elem %back, %at : ref<f32>
  %b = load %be : f32
  ; Made anew in each turn; threads leave the loop at different times, each with its last one.
  %first = local 9 : array<vec<3, f32>, 1>
  %last, %sum = for %k: i32 = %z, %t, %one carry(%a: array<vec<3, f32>, 1> = %first, %s: f32 = %zero) -> (array<vec<3, f32>, 1>, f32) {
    %fresh = local 9 : array<vec<3, f32>, 1>
    %j = rem %k, %five : i32
    %fe = elem %fresh, %j : ref<vec<3, f32>>
    %old = load %fe : vec<3, f32>
    %ox = extract %old, 1 : f32
    %kf = cast %k : f32
    %w = mul %kf, %v : f32
    %vec = construct %w, %v, %kf : vec<3, f32>
    %ignored = atomic_add %fe, %vec : vec<3, f32>
    %c = comp %fe, %one : ref<f32>
    %cv = load %c : f32
    %s1 = add %s, %ox : f32
    %s2 = add %s1, %cv : f32
    yield %fresh, %s2
  }
  %tl = sub %t, %one : i32
  %ge = ge %tl, %z : bool
  %tc = select %ge, %tl, %z : i32
  %lj = rem %tc, %five : i32
  %le = elem %last, %lj : ref<vec<3, f32>>
  %lv = load %le : vec<3, f32>
  %lx = extract %lv, 0 : f32
  ; Only some threads make one.
  %many = gt %t, %two : bool
  %p = if %many -> (f32) {
    %pair = call @pair(%v) : array<f32, 1>
    %other = call @pair(%b) : array<f32, 1>
    %pe = elem %pair, %one : ref<f32>
    %pv = load %pe : f32
    %oe = elem %other, %z : ref<f32>
    %ov = load %oe : f32
    %both = mul %pv, %ov : f32
    yield %both
  } else {
    yield %b
  }
  %flags = local 4 : array<bool, 1>
  %fl = elem %flags, %at : ref<bool>
  store %fl, %many
  %fz = elem %flags, %two : ref<bool>
  %flag = load %fz : bool
  %ff = cast %flag : f32
  %ints = local 5 : array<i32, 1>
  %ie = elem %ints, %at : ref<i32>
  %i1 = atomic_cas %ie, %z, %five : i32
  %i2 = atomic_cas %ie, %z, %one : i32
  %i3 = atomic_max %ie, %t : i32
  %i4 = load %ie : i32
  %i5 = add %i2, %i4 : i32
  %i6 = mul %i1, %i3 : i32
  %i7 = add %i5, %i6 : i32
  %if = cast %i7 : f32
  %r1 = add %b, %sum : f32
  %r2 = add %r1, %lx : f32
  %r3 = add %r2, %p : f32
  %r4 = add %r3, %ff : f32
  %r5 = add %r4, %if : f32
  %re = elem %out, %i : ref<f32>
  store %re, %r5
  %ce = elem %count, %z : ref<i32>
  %co = atomic_add %ce, %one : i32
  return
}
