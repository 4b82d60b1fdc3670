;; kernel ranges
kernel @ranges(%0 n: i32, %1 s: i32, %2 out: array<i32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  for %5: i32 = %3, %0, %4 {
    %6 = elem %2, %5 : ref<i32>
    store %6, %4
    yield
  }
  %7 = const -1 : i32
  for %8: i32 = %0, %3, %7 {
    %9 = shape %2, 0 : i32
    %10 = lt %8, %3 : bool
    %11 = add %8, %9 : i32
    %12 = select %10, %11, %8 : i32
    %13 = elem %2, %12 : ref<i32>
    %14 = const 2 : i32
    store %13, %14
    yield
  }
  for %15: i32 = %3, %0, %1 {
    %16 = shape %2, 0 : i32
    %17 = lt %15, %3 : bool
    %18 = add %15, %16 : i32
    %19 = select %17, %18, %15 : i32
    %20 = elem %2, %19 : ref<i32>
    %21 = const 3 : i32
    store %20, %21
    yield
  }
  %22 = elem %2, %3 : ref<i32>
  %23 = const 4 : i32
  store %22, %23
  %24 = elem %2, %4 : ref<i32>
  store %24, %23
  %25 = const 2 : i32
  %26 = elem %2, %25 : ref<i32>
  store %26, %23
  %27 = const 100 : i32
  for %28: i32 = %3, %27, %4 {
    %29 = elem %2, %28 : ref<i32>
    %30 = const 6 : i32
    store %29, %30
    yield
  }
  return
}

;; kernel carried
kernel @carried(%0 n: i32, %1 v: vec<3, f32>, %2 out: array<vec<3, f32>, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5, %6 = for %7: i32 = %3, %0, %4 carry(%8: i32 = %3, %9: vec<3, f32> = %1) -> (i32, vec<3, f32>) {
    %10 = add %8, %4 : i32
    %11 = extract %9, 0 : f32
    %12 = const 1.0 : f32
    %13 = add %11, %12 : f32
    %14 = insert %9, %13, 0 : vec<3, f32>
    %15 = for %16: i32 = %3, %7, %4 carry(%17: vec<3, f32> = %14) -> (vec<3, f32>) {
      %18 = extract %17, 1 : f32
      %19 = cast %10 : f32
      %20 = add %18, %19 : f32
      %21 = insert %17, %20, 1 : vec<3, f32>
      yield %21
    }
    yield %10, %15
  }
  %22 = elem %2, %3 : ref<vec<3, f32>>
  store %22, %6
  return
}

;; kernel whiles
kernel @whiles(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3, %4 = while carry(%5: i32 = %0, %6: i32 = %2) -> (i32, i32) {
    %7 = const 1 : i32
    %8 = ne %5, %7 : bool
    yield %8
  } do(%9: i32, %10: i32) {
    %11 = const 2 : i32
    %12 = rem %9, %11 : i32
    %13 = eq %12, %2 : bool
    %14 = if %13 -> (i32) {
      %15 = div %9, %11 : i32
      yield %15
    } else {
      %16 = const 3 : i32
      %17 = mul %9, %16 : i32
      %18 = const 1 : i32
      %19 = add %17, %18 : i32
      yield %19
    }
    %20 = const 1 : i32
    %21 = add %10, %20 : i32
    yield %14, %21
  }
  %22 = elem %1, %2 : ref<i32>
  store %22, %4
  %23 = const false : bool
  %24, %25, %26 = while carry(%27: i32 = %3, %28: bool = %23, %29: i32 = %2) -> (i32, bool, i32) {
    %30 = not %28 : bool
    yield %30
  } do(%31: i32, %32: bool, %33: i32) {
    %34 = const 2 : i32
    %35 = gt %31, %34 : bool
    %36, %37 = if %35 -> (i32, bool) {
      %38 = const true : bool
      yield %31, %38
    } else {
      %39 = const 1 : i32
      %40 = add %31, %39 : i32
      yield %40, %23
    }
    yield %36, %37, %31
  }
  %41 = const 1 : i32
  %42 = elem %1, %41 : ref<i32>
  store %42, %26
  return
}

;; kernel last_value
kernel @last_value(%0 n: i32, %1 out: array<i32, 1>) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = for %5: i32 = %2, %0, %3 carry(%6: i32 = %2) -> (i32) {
    yield %5
  }
  %7 = elem %1, %2 : ref<i32>
  store %7, %4
  %8 = const 100 : i32
  %9, %10 = for %11: i32 = %2, %8, %3 carry(%12: i32 = %2, %13: i32 = %2) -> (i32, i32) {
    %14 = const 2 : i32
    %15 = mul %11, %14 : i32
    yield %11, %15
  }
  %16 = add %9, %10 : i32
  %17 = elem %1, %3 : ref<i32>
  store %17, %16
  return
}

;; kernel random
func @_pcg(%0 x: u32) -> (u32) {
  %1 = const 747796405 : u32
  %2 = mul %0, %1 : u32
  %3 = const 2891336453 : u32
  %4 = add %2, %3 : u32
  %5 = const 28 : u32
  %6 = shr %4, %5 : u32
  %7 = const 4 : u32
  %8 = add %6, %7 : u32
  %9 = shr %4, %8 : u32
  %10 = xor %9, %4 : u32
  %11 = const 277803737 : u32
  %12 = mul %10, %11 : u32
  %13 = const 22 : u32
  %14 = shr %12, %13 : u32
  %15 = xor %14, %12 : u32
  return %15
}

func @rand_init(%0 seed: i32) -> (u32) {
  %1 = cast %0 : u32
  %2 = call @_pcg(%1) : u32
  return %2
}

func @randf(%0 state: u32) -> (f32, u32) {
  %1 = call @_pcg(%0) : u32
  %2 = const 8 : u32
  %3 = shr %1, %2 : u32
  %4 = cast %3 : f32
  %5 = const 5.9604645e-8 : f32
  %6 = mul %4, %5 : f32
  return %6, %1
}

kernel @random(%0 seed: i32, %1 out: array<f32, 1>) {
  %2 = call @rand_init(%0) : u32
  %3 = const 0 : i32
  %4 = const 100 : i32
  %5 = const 1 : i32
  %6 = for %7: i32 = %3, %4, %5 carry(%8: u32 = %2) -> (u32) {
    %9, %10 = call @randf(%8) : f32, u32
    %11 = const 0.5 : f32
    %12 = lt %9, %11 : bool
    %13 = if %12 -> (u32) {
      %14, %15 = call @randf(%10) : f32, u32
      %16 = elem %1, %7 : ref<f32>
      store %16, %14
      yield %15
    } else {
      yield %10
    }
    yield %13
  }
  %17 = const false : bool
  %18, %19 = while carry(%20: u32 = %6, %21: bool = %17) -> (u32, bool) {
    %22 = not %21 : bool
    yield %22
  } do(%23: u32, %24: bool) {
    %25, %26 = call @randf(%23) : f32, u32
    %27 = const 0.5 : f32
    %28 = lt %25, %27 : bool
    %29 = if %28 -> (bool) {
      %30 = elem %1, %3 : ref<f32>
      %31 = const 1.0 : f32
      store %30, %31
      yield %17
    } else {
      %32 = const true : bool
      yield %32
    }
    yield %26, %29
  }
  %33, %34 = call @randf(%18) : f32, u32
  %35 = elem %1, %5 : ref<f32>
  store %35, %33
  return
}
