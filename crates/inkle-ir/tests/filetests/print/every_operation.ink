;; test print

struct Inner { a: array<f32, 2>, b: quat<f64> }
struct Outer { i: struct Inner, t: transform<f16> }

func @two(%0 x: f32, %1 n: i32) -> (f32, i32) {
  return %0, %1
}

kernel @everything(%0 x: array<f32, 1>, %1 os: array<struct Outer, 2>, %2 ix: indexedarray<vec<3, i32>, 3>, %3 b: bool, %4 i: i32, %5 f: f32, %6 o: struct Outer) {
  %7 = neg %5 : f32
  %8 = not %3 : bool
  %9 = invert %4 : i32
  %10 = abs %5 : f32
  %11 = sqrt %5 : f32
  %12 = rsqrt %5 : f32
  %13 = floor %5 : f32
  %14 = ceil %5 : f32
  %15 = trunc %5 : f32
  %16 = round %5 : f32
  %17 = rint %5 : f32
  %18 = sin %5 : f32
  %19 = cos %5 : f32
  %20 = tan %5 : f32
  %21 = asin %5 : f32
  %22 = acos %5 : f32
  %23 = atan %5 : f32
  %24 = sinh %5 : f32
  %25 = cosh %5 : f32
  %26 = tanh %5 : f32
  %27 = exp %5 : f32
  %28 = exp2 %5 : f32
  %29 = log %5 : f32
  %30 = log2 %5 : f32
  %31 = log10 %5 : f32
  %32 = cbrt %5 : f32
  %33 = erf %5 : f32
  %34 = erfc %5 : f32
  %35 = erfinv %5 : f32
  %36 = erfcinv %5 : f32
  %37 = isnan %5 : bool
  %38 = isinf %5 : bool
  %39 = isfinite %5 : bool
  %40 = popcount %4 : i32
  %41 = clz %4 : i32
  %42 = ctz %4 : i32
  %43 = add %5, %5 : f32
  %44 = sub %5, %5 : f32
  %45 = mul %5, %5 : f32
  %46 = div %5, %5 : f32
  %47 = floordiv %5, %5 : f32
  %48 = rem %5, %5 : f32
  %49 = min %5, %5 : f32
  %50 = max %5, %5 : f32
  %51 = pow %5, %5 : f32
  %52 = atan2 %5, %5 : f32
  %53 = and %4, %4 : i32
  %54 = or %4, %4 : i32
  %55 = xor %4, %4 : i32
  %56 = shl %4, %4 : i32
  %57 = shr %4, %4 : i32
  %58 = eq %5, %5 : bool
  %59 = ne %5, %5 : bool
  %60 = lt %5, %5 : bool
  %61 = le %5, %5 : bool
  %62 = gt %5, %5 : bool
  %63 = ge %5, %5 : bool
  %64 = const true : bool
  %65 = zero : struct Outer
  %66 = select %3, %6, %6 : struct Outer
  %67 = cast %4 : u16
  %68 = bitcast %4 : f32
  %69 = construct %5, %5, %5 : vec<3, f32>
  %70 = construct %5, %5, %5, %5, %5, %5 : mat<2x3, f32>
  %71 = extract %69, 2 : f32
  %72 = extract %6, 0 : struct Inner
  %73 = extract_dyn %69, %4 : f32
  %74 = insert %69, %5, 1 : vec<3, f32>
  %75 = insert_dyn %69, %5, %4 : vec<3, f32>
  %76 = elem %0, %4 : ref<f32>
  %77 = elem %1, %4, %4 : ref<struct Outer>
  %78 = view %2, %4, 0 : indexedarray<vec<3, i32>, 2>
  %window = window %0, %4, %4, %4, 0 : array<f32, 1>
  %local = local 2, 3 : array<struct Inner, 2>
  %79 = field %77, 1 : ref<transform<f16>>
  %80 = comp %79, %4 : ref<f16>
  %81 = grad_array %0 : array<f32, 1>
  %82 = shape %2, 2 : i32
  %83 = stride %2, 0 : i64
  %84 = address %0 : u64
  %at = array_at %84, %4, %4 : array<f32, 2>
  %85 = load %76 : f32
  store %76, %5
  %86 = atomic_add %76, %5 : f32
  %87 = atomic_sub %76, %5 : f32
  %88 = atomic_min %76, %5 : f32
  %89 = atomic_max %76, %5 : f32
  %90 = elem %2, %4, %4, %4 : ref<vec<3, i32>>
  %91 = comp %90, %4 : ref<i32>
  %92 = atomic_and %91, %4 : i32
  %93 = atomic_or %91, %4 : i32
  %94 = atomic_xor %91, %4 : i32
  %95 = atomic_exch %91, %4 : i32
  %96 = atomic_cas %91, %4, %4 : i32
  %97 = tid 3 : i32
  %98 = launch_dim 1 : i32
  %9000 = block_dim : i32
  %99 = if %3 -> (f32) {
    yield %5
  } else {
    yield %5
  }
  if %3 {
    yield
  } else {
    yield
  }
  %100, %101 = for %102: i32 = %4, %4, %4 carry(%103: f32 = %5, %104: bool = %3) -> (f32, bool) {
    yield %103, %104
  }
  for %105: i32 = %4, %4, %4 {
    yield
  }
  %106 = while carry(%107: i32 = %4) -> (i32) {
    %108 = lt %107, %4 : bool
    yield %108
  } do(%109: i32) {
    yield %109
  }
  while {
    yield %3
  } do {
    yield
  }
  %110, %111 = call @two(%5, %4) : f32, i32
  print "%f %d\n", %5, %4
  assert %3, "b \"holds\""
  return
}

;; expect:
struct Inner { a: array<f32, 2>, b: quat<f64> }
struct Outer { i: struct Inner, t: transform<f16> }

func @two(%0 x: f32, %1 n: i32) -> (f32, i32) {
  return %0, %1
}

kernel @everything(%0 x: array<f32, 1>, %1 os: array<struct Outer, 2>, %2 ix: indexedarray<vec<3, i32>, 3>, %3 b: bool, %4 i: i32, %5 f: f32, %6 o: struct Outer) {
  %7 = neg %5 : f32
  %8 = not %3 : bool
  %9 = invert %4 : i32
  %10 = abs %5 : f32
  %11 = sqrt %5 : f32
  %12 = rsqrt %5 : f32
  %13 = floor %5 : f32
  %14 = ceil %5 : f32
  %15 = trunc %5 : f32
  %16 = round %5 : f32
  %17 = rint %5 : f32
  %18 = sin %5 : f32
  %19 = cos %5 : f32
  %20 = tan %5 : f32
  %21 = asin %5 : f32
  %22 = acos %5 : f32
  %23 = atan %5 : f32
  %24 = sinh %5 : f32
  %25 = cosh %5 : f32
  %26 = tanh %5 : f32
  %27 = exp %5 : f32
  %28 = exp2 %5 : f32
  %29 = log %5 : f32
  %30 = log2 %5 : f32
  %31 = log10 %5 : f32
  %32 = cbrt %5 : f32
  %33 = erf %5 : f32
  %34 = erfc %5 : f32
  %35 = erfinv %5 : f32
  %36 = erfcinv %5 : f32
  %37 = isnan %5 : bool
  %38 = isinf %5 : bool
  %39 = isfinite %5 : bool
  %40 = popcount %4 : i32
  %41 = clz %4 : i32
  %42 = ctz %4 : i32
  %43 = add %5, %5 : f32
  %44 = sub %5, %5 : f32
  %45 = mul %5, %5 : f32
  %46 = div %5, %5 : f32
  %47 = floordiv %5, %5 : f32
  %48 = rem %5, %5 : f32
  %49 = min %5, %5 : f32
  %50 = max %5, %5 : f32
  %51 = pow %5, %5 : f32
  %52 = atan2 %5, %5 : f32
  %53 = and %4, %4 : i32
  %54 = or %4, %4 : i32
  %55 = xor %4, %4 : i32
  %56 = shl %4, %4 : i32
  %57 = shr %4, %4 : i32
  %58 = eq %5, %5 : bool
  %59 = ne %5, %5 : bool
  %60 = lt %5, %5 : bool
  %61 = le %5, %5 : bool
  %62 = gt %5, %5 : bool
  %63 = ge %5, %5 : bool
  %64 = const true : bool
  %65 = zero : struct Outer
  %66 = select %3, %6, %6 : struct Outer
  %67 = cast %4 : u16
  %68 = bitcast %4 : f32
  %69 = construct %5, %5, %5 : vec<3, f32>
  %70 = construct %5, %5, %5, %5, %5, %5 : mat<2x3, f32>
  %71 = extract %69, 2 : f32
  %72 = extract %6, 0 : struct Inner
  %73 = extract_dyn %69, %4 : f32
  %74 = insert %69, %5, 1 : vec<3, f32>
  %75 = insert_dyn %69, %5, %4 : vec<3, f32>
  %76 = elem %0, %4 : ref<f32>
  %77 = elem %1, %4, %4 : ref<struct Outer>
  %78 = view %2, %4, 0 : indexedarray<vec<3, i32>, 2>
  %79 = window %0, %4, %4, %4, 0 : array<f32, 1>
  %80 = local 2, 3 : array<struct Inner, 2>
  %81 = field %77, 1 : ref<transform<f16>>
  %82 = comp %81, %4 : ref<f16>
  %83 = grad_array %0 : array<f32, 1>
  %84 = shape %2, 2 : i32
  %85 = stride %2, 0 : i64
  %86 = address %0 : u64
  %87 = array_at %86, %4, %4 : array<f32, 2>
  %88 = load %76 : f32
  store %76, %5
  %89 = atomic_add %76, %5 : f32
  %90 = atomic_sub %76, %5 : f32
  %91 = atomic_min %76, %5 : f32
  %92 = atomic_max %76, %5 : f32
  %93 = elem %2, %4, %4, %4 : ref<vec<3, i32>>
  %94 = comp %93, %4 : ref<i32>
  %95 = atomic_and %94, %4 : i32
  %96 = atomic_or %94, %4 : i32
  %97 = atomic_xor %94, %4 : i32
  %98 = atomic_exch %94, %4 : i32
  %99 = atomic_cas %94, %4, %4 : i32
  %100 = tid 3 : i32
  %101 = launch_dim 1 : i32
  %102 = block_dim : i32
  %103 = if %3 -> (f32) {
    yield %5
  } else {
    yield %5
  }
  if %3 {
    yield
  } else {
    yield
  }
  %104, %105 = for %106: i32 = %4, %4, %4 carry(%107: f32 = %5, %108: bool = %3) -> (f32, bool) {
    yield %107, %108
  }
  for %109: i32 = %4, %4, %4 {
    yield
  }
  %110 = while carry(%111: i32 = %4) -> (i32) {
    %112 = lt %111, %4 : bool
    yield %112
  } do(%113: i32) {
    yield %113
  }
  while {
    yield %3
  } do {
    yield
  }
  %114, %115 = call @two(%5, %4) : f32, i32
  print "%f %d\n", %5, %4
  assert %3, "b \"holds\""
  return
}
