; Every atomic on integers, with results that do not depend on the order, under a divergent mask.
kernel @k(%x: array<i32, 1>, %sum: array<i32, 1>, %y: array<f32, 1>, %u: array<u64, 1>, %h: array<f16, 1>, %small: array<i8, 1>) {
  %i = tid 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %two = const 2 : i32
  %three = const 3 : i32
  %four = const 4 : i32
  %five = const 5 : i32
  %seven = const 7 : i32
  %e = elem %x, %i : ref<i32>
  %v = load %e : i32
  %low = and %v, %seven : i32
  %odd = and %v, %one : i32
  %is_odd = ne %odd, %zero : bool
  if %is_odd {
    %s0 = elem %sum, %zero : ref<i32>
    %o0 = atomic_add %s0, %v : i32
    %s1 = elem %sum, %one : ref<i32>
    %o1 = atomic_sub %s1, %low : i32
    yield
  } else {
    %s2 = elem %sum, %two : ref<i32>
    %o2 = atomic_min %s2, %v : i32
    %s3 = elem %sum, %three : ref<i32>
    %o3 = atomic_max %s3, %v : i32
    yield
  }
  %s4 = elem %sum, %four : ref<i32>
  %o4 = atomic_and %s4, %v : i32
  %s5 = elem %sum, %five : ref<i32>
  %o5 = atomic_or %s5, %v : i32
  ; Floats: whole numbers small enough to be summed exactly in any order.
  %f = cast %low : f32
  %ye = elem %y, %low : ref<f32>
  %of = atomic_add %ye, %f : f32
  %eight = const 8 : i32
  %mx = elem %y, %eight : ref<f32>
  %om = atomic_max %mx, %f : f32
  %nine = const 9 : i32
  %mn = elem %y, %nine : ref<f32>
  %on = atomic_min %mn, %f : f32
  %uv = cast %v : u64
  %ue = elem %u, %low : ref<u64>
  %ou = atomic_xor %ue, %uv : u64
  %hv = cast %low : f16
  %h0 = const 0.0078125 : f16
  %hs = mul %hv, %h0 : f16
  %he = elem %h, %zero : ref<f16>
  %oh = atomic_max %he, %hs : f16
  %bv = cast %low : i8
  %be = elem %small, %low : ref<i8>
  %ob = atomic_add %be, %bv : i8
  return
}
