;; test verify

struct S { a: f32 }
func @f(%a: f32) -> (f32) {
  return %a
}
func @g(%x: f32, %i: i32, %b: bool, %w: vec<2, f32>, %o: array<f32, 1>, %oo: array<f32, 2>, %p: ref<f32>, %q: ref<vec<2, f32>>, %t: ref<struct S>) {
  %v0 = const 1.0 : vec<2, f32>
  %v1 = tid 0 : i64
  %v2 = neg %x : f64
  %v3 = isnan %x : f32
  %v4 = add %x, %x : i32
  %v5 = lt %x, %x : i32
  %v6 = select %b, %x, %x : f64
  %v7 = cast %x : vec<2, f32>
  %v8 = construct %x : f32
  %v9 = extract %w, 0 : i32
  %v10 = insert %w, %x, 0 : vec<3, f32>
  %v11 = elem %o, %i : ref<i32>
  %v12 = view %oo, %i, 0 : array<f32, 2>
  %v13 = field %t, 0 : f32
  %v14 = comp %q, %i : f32
  %v15 = grad_array %o : array<f64, 1>
  %v16 = shape %o, 0 : i64
  %v17 = stride %o, 0 : i32
  %v18 = address %o : i64
  %v19 = load %p : f64
  %v20 = atomic_add %p, %x : f64
  %v21 = call @f(%x) : f64
  %v22 = for %k: i32 = %i, %i, %i carry(%l: f32 = %x) -> (f64) { yield %x }
  %v23 = while carry(%c: f32 = %x) -> (i32) { yield %b } do(%d: f32) { yield %x }
  return
}
kernel @k() {

  return
}

;; expect:
; V015: @g, `%9 = const 1.0 : vec<2, f32>`: gives a scalar, not vec<2, f32>
; V015: @g, `%10 = tid 0 : i64`: gives (i32), not (i64)
; V015: @g, `%11 = neg %0 : f64`: gives (f32), not (f64)
; V015: @g, `%12 = isnan %0 : f32`: gives (bool), not (f32)
; V015: @g, `%13 = add %0, %0 : i32`: gives (f32), not (i32)
; V015: @g, `%14 = lt %0, %0 : i32`: gives (bool), not (i32)
; V015: @g, `%15 = select %2, %0, %0 : f64`: gives (f32), not (f64)
; V015: @g, `%16 = cast %0 : vec<2, f32>`: gives (f32), not (vec<2, f32>)
; V015: @g, `%17 = construct %0 : f32`: gives a composite, not f32
; V015: @g, `%18 = extract %3, 0 : i32`: gives (f32), not (i32)
; V015: @g, `%19 = insert %3, %0, 0 : vec<3, f32>`: gives (vec<2, f32>), not (vec<3, f32>)
; V015: @g, `%20 = elem %4, %1 : ref<i32>`: gives (ref<f32>), not (ref<i32>)
; V015: @g, `%21 = view %5, %1, 0 : array<f32, 2>`: gives (array<f32, 1>), not (array<f32, 2>)
; V015: @g, `%22 = field %8, 0 : f32`: gives (ref<f32>), not (f32)
; V015: @g, `%23 = comp %7, %1 : f32`: gives (ref<f32>), not (f32)
; V015: @g, `%24 = grad_array %4 : array<f64, 1>`: gives (array<f32, 1>), not (array<f64, 1>)
; V015: @g, `%25 = shape %4, 0 : i64`: gives (i32), not (i64)
; V015: @g, `%26 = stride %4, 0 : i32`: gives (i64), not (i32)
; V015: @g, `%27 = address %4 : i64`: gives (u64), not (i64)
; V015: @g, `%28 = load %6 : f64`: gives (f32), not (f64)
; V015: @g, `%29 = atomic_add %6, %0 : f64`: gives (f32), not (f64)
; V015: @g, `%30 = call @f(%0) : f64`: gives (f32), not (f64)
; V015: @g, `%31 = for %32: i32 = %1, %1, %1 carry(%33: f32 = %0) -> (f64)`: gives (f32), not (f64)
; V015: @g, `%34 = while carry(%35: f32 = %0) -> (i32)`: gives (f32), not (i32)
