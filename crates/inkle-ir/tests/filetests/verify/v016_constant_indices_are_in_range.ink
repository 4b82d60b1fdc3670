;; test verify

struct S { a: f32 }
func @g(%w: vec<2, f32>, %s: struct S, %t: ref<struct S>, %o: array<f32, 1>, %p: array<f32, 2>, %x: f32) {
  %0 = extract %w, 2 : f32
  %1 = extract %s, 1 : f32
  %2 = insert %w, %x, 2 : vec<2, f32>
  %3 = field %t, 1 : ref<f32>
  %4 = shape %o, 1 : i32
  %5 = stride %o, 1 : i64
  %6 = tid 4 : i32
  %7 = launch_dim 4 : i32
  %z = zero : i32
  %8 = window %o, %z, %z, %z, 1 : array<f32, 1>
  %9 = local 3 : array<f32, 2>
  %10 = local 3, 0 : array<f32, 2>
  %11 = local 131073 : array<f32, 1>
  %12 = local 131072 : array<f32, 1>
  %13 = view %p, %z, 2 : array<f32, 1>
  return
}
kernel @k() {

  return
}

;; expect:
; V016: @g, `%6 = extract %0, 2 : f32`: index 2 of 2
; V016: @g, `%7 = extract %1, 1 : f32`: index 1 of 1
; V016: @g, `%8 = insert %0, %5, 2 : vec<2, f32>`: index 2 of 2
; V016: @g, `%9 = field %2, 1 : ref<f32>`: index 1 of 1
; V016: @g, `%10 = shape %3, 1 : i32`: index 1 of 1
; V016: @g, `%11 = stride %3, 1 : i64`: index 1 of 1
; V016: @g, `%12 = tid 4 : i32`: index 4 of 4
; V016: @g, `%13 = launch_dim 4 : i32`: index 4 of 4
; V016: @g, `%15 = window %3, %14, %14, %14, 1 : array<f32, 1>`: index 1 of 1
; V016: @g, `%16 = local 3 : array<f32, 2>`: has 1 extents, not 2
; V016: @g, `%17 = local 3, 0 : array<f32, 2>`: an extent is zero
; V016: @g, `%18 = local 131073 : array<f32, 1>`: takes 524292 bytes, more than 524288
; V016: @g, `%20 = view %4, %14, 2 : array<f32, 1>`: index 2 of 2
