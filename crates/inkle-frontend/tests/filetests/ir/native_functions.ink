;; kernel calls
native @double(%0 x: f32, %1 out: array<f32, 1>, %2 i: i32) gradient @double_adjoint.2 "out[i] = x * 2.0f;"

native @double_adjoint(%0 x: f32, %1 out: array<f32, 1>, %2 i: i32, %3 adj_x: ref<f32>, %4 adj_out: array<f32, 1>, %5 adj_i: ref<i32>) "adj_x += 2.0f * adj_out[i];"

func @double_adjoint.2(%0 x: f32, %1 out: array<f32, 1>, %2 i: i32, %3 adj_x: f32, %4 adj_out: array<f32, 1>, %5 adj_i: i32) -> (f32, i32) {
  %6 = local 1 : array<f32, 1>
  %7 = const 0 : i32
  %8 = elem %6, %7 : ref<f32>
  store %8, %3
  %9 = local 1 : array<i32, 1>
  %10 = elem %9, %7 : ref<i32>
  store %10, %5
  call @double_adjoint(%0, %1, %2, %8, %4, %10)
  %11 = load %8 : f32
  %12 = load %10 : i32
  return %11, %12
}

native @wait() "WP_TILE_SYNC();"

native @spread(%0 x: f32) -> (vec<3, f32>) replay @spread "return wp::vec_t<3, float>(x);"

native @adds(%0 total: ref<f32>, %1 by: f32) -> (bool) "total += by; return total > 3.0f;"

func @adds.2(%0 total: f32, %1 by: f32) -> (bool, f32) replay @adds.2 {
  %2 = local 1 : array<f32, 1>
  %3 = const 0 : i32
  %4 = elem %2, %3 : ref<f32>
  store %4, %0
  %5 = call @adds(%4, %1) : bool
  %6 = load %4 : f32
  return %5, %6
}

native @adds.3(%0 total: ref<f32>, %1 by: f32) -> (bool) replay @adds.3 "total += by; return total > 3.0f;"

kernel @calls(%0 out: array<f32, 1>, %1 v: array<vec<3, f32>, 1>) {
  %2 = tid 0 : i32
  %3 = const 1.0 : f32
  call @double(%3, %0, %2)
  call @wait()
  %4 = elem %0, %2 : ref<f32>
  %5 = load %4 : f32
  %6 = call @spread(%5) : vec<3, f32>
  %7 = const 2.0 : f32
  %8 = call @spread(%7) : vec<3, f32>
  %9 = add %6, %8 : vec<3, f32>
  %10 = elem %1, %2 : ref<vec<3, f32>>
  store %10, %9
  %11 = cast %2 : f32
  %12 = const 0.5 : f32
  %13, %14 = call @adds.2(%11, %12) : bool, f32
  if %13 {
    %15 = call @adds.3(%4, %14) : bool
    yield
  } else {
    yield
  }
  return
}
