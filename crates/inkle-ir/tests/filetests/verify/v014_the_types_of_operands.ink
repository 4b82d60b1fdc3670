;; test verify

struct S { a: f32 }
func @f(%a: f32) {
  return
}
func @g(%x: f32, %i: i32, %j: i64, %b: bool, %w: vec<2, f32>, %o: array<f32, 1>, %s: struct S, %p: ref<f32>, %q: ref<vec<2, f32>>, %t: ref<struct S>, %h: ref<f16>, %hv: f16) {
  %v0 = not %i : bool
  %v1 = sqrt %i : i32
  %v2 = invert %x : f32
  %v3 = neg %b : bool
  %v4 = isnan %w : bool
  %v5 = add %b, %b : bool
  %v6 = add %x, %i : f32
  %v7 = pow %i, %i : i32
  %v8 = and %x, %x : f32
  %v9 = shl %b, %b : bool
  %v10 = lt %w, %w : bool
  %v11 = lt %x, %i : bool
  %v12 = select %i, %x, %x : f32
  %v13 = select %b, %x, %i : f32
  %v14 = cast %o : i32
  %v15 = bitcast %x : f64
  %v16 = bitcast %b : i8
  %v17 = construct %x, %i : vec<2, f32>
  %v18 = extract %x, 0 : f32
  %v19 = extract_dyn %s, %i : f32
  %v20 = extract_dyn %w, %x : f32
  %v21 = insert %w, %i, 0 : vec<2, f32>
  %v22 = insert_dyn %w, %i, %i : vec<2, f32>
  %v23 = elem %o, %x : ref<f32>
  %v24 = elem %x, %i : ref<f32>
  %v25 = view %w, %i, 0 : array<f32, 1>
  %v26 = field %p, 0 : ref<f32>
  %v27 = comp %p, %i : ref<f32>
  %v28 = comp %q, %x : ref<f32>
  %v29 = grad_array %x : array<f32, 1>
  %v30 = shape %x, 0 : i32
  %v31 = address %x : u64
  %v32 = load %x : f32
  store %p, %i
  store %x, %x
  %v35 = atomic_add %p, %i : f32
  %v36 = atomic_and %p, %x : f32
  %v37 = atomic_add %t, %s : struct S
  %v38 = atomic_cas %h, %hv, %hv : f16
  if %i { yield } else { yield }
  for %v40: f32 = %x, %x, %x { yield }
  for %v41: i32 = %i, %j, %i { yield }
  assert %i, "i"
  print "%d", %o
  call @f(%i)
  return
}
kernel @k() {

  return
}

;; expect:
; V014: @g, `%12 = not %1 : bool`: operand 1 is i32, not of bools
; V014: @g, `%13 = sqrt %1 : i32`: operand 1 is i32, not of floats
; V014: @g, `%14 = invert %0 : f32`: operand 1 is f32, not of integers
; V014: @g, `%15 = neg %3 : bool`: operand 1 is bool, not of numbers
; V014: @g, `%16 = isnan %4 : bool`: operand 1 is vec<2, f32>, not a float
; V014: @g, `%17 = add %3, %3 : bool`: operand 1 is bool, not of numbers
; V014: @g, `%18 = add %0, %1 : f32`: operand 2 is i32, not f32
; V014: @g, `%19 = pow %1, %1 : i32`: operand 1 is i32, not of floats
; V014: @g, `%20 = and %0, %0 : f32`: operand 1 is f32, not of integers or bools
; V014: @g, `%21 = shl %3, %3 : bool`: operand 1 is bool, not of integers
; V014: @g, `%22 = lt %4, %4 : bool`: operand 1 is vec<2, f32>, not a scalar
; V014: @g, `%23 = lt %0, %1 : bool`: operand 2 is i32, not f32
; V014: @g, `%24 = select %1, %0, %0 : f32`: operand 1 is i32, not bool
; V014: @g, `%25 = select %3, %0, %1 : f32`: operand 3 is i32, not f32
; V014: @g, `%26 = cast %5 : i32`: operand 1 is array<f32, 1>, not of scalars
; V014: @g, `%27 = bitcast %0 : f64`: the bits of f32 are not those of f64
; V014: @g, `%28 = bitcast %3 : i8`: the bits of bool are not those of i8
; V014: @g, `%29 = construct %0, %1 : vec<2, f32>`: operand 2 is i32, not f32
; V014: @g, `%30 = extract %0, 0 : f32`: operand 1 is f32, not a vector, matrix, quaternion or transform
; V014: @g, `%31 = extract_dyn %6, %1 : f32`: operand 1 is struct S, not a vector, matrix, quaternion or transform
; V014: @g, `%32 = extract_dyn %4, %0 : f32`: operand 2 is f32, not i32
; V014: @g, `%33 = insert %4, %1, 0 : vec<2, f32>`: operand 2 is i32, not f32
; V014: @g, `%34 = insert_dyn %4, %1, %1 : vec<2, f32>`: operand 2 is i32, not f32
; V014: @g, `%35 = elem %5, %0 : ref<f32>`: operand 2 is f32, not i32 or i64
; V014: @g, `%36 = elem %0, %1 : ref<f32>`: operand 1 is f32, not an array that is not in buckets
; V014: @g, `%37 = view %4, %1, 0 : array<f32, 1>`: operand 1 is vec<2, f32>, not an array of several dimensions
; V014: @g, `%38 = field %7, 0 : ref<f32>`: operand 1 is ref<f32>, not a ref to a struct
; V014: @g, `%39 = comp %7, %1 : ref<f32>`: operand 1 is f32, not a vector, matrix, quaternion or transform
; V014: @g, `%40 = comp %8, %0 : ref<f32>`: operand 2 is f32, not i32
; V014: @g, `%41 = grad_array %0 : array<f32, 1>`: operand 1 is f32, not an array that is not in buckets
; V014: @g, `%42 = shape %0, 0 : i32`: operand 1 is f32, not an array that is not in buckets
; V014: @g, `%43 = address %0 : u64`: operand 1 is f32, not an array that is not in buckets
; V014: @g, `%44 = load %0 : f32`: operand 1 is f32, not a ref
; V014: @g, `store %7, %1`: operand 2 is i32, not f32
; V014: @g, `store %0, %0`: operand 1 is f32, not a ref
; V014: @g, `%45 = atomic_add %7, %1 : f32`: operand 2 is i32, not f32
; V014: @g, `%46 = atomic_and %7, %0 : f32`: operand 1 is f32, not of integers
; V014: @g, `%47 = atomic_add %9, %6 : struct S`: operand 1 is struct S, not of numbers
; V014: @g, `%48 = atomic_cas %10, %11, %11 : f16`: operand 1 is ref<f16>, not a ref to a scalar of 32 or 64 bits
; V014: @g, `if %1`: operand 1 is i32, not bool
; V014: @g, `for %49: f32 = %0, %0, %0`: operand 1 is f32, not i32 or i64
; V014: @g, `for %50: i32 = %1, %2, %1`: operand 2 is i64, not i32
; V014: @g, `assert %1, "i"`: operand 1 is i32, not bool
; V014: @g, `print "%d", %5`: operand 1 is array<f32, 1>, not made of scalars
; V014: @g, `call @f(%1)`: operand 1 is i32, not f32
