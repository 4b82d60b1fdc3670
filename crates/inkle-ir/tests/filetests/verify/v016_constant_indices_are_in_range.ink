;; test verify

struct S { a: f32 }
func @g(%w: vec<2, f32>, %s: struct S, %t: ref<struct S>, %o: array<f32, 1>, %x: f32) {
  %0 = extract %w, 2 : f32
  %1 = extract %s, 1 : f32
  %2 = insert %w, %x, 2 : vec<2, f32>
  %3 = field %t, 1 : ref<f32>
  %4 = shape %o, 1 : i32
  %5 = stride %o, 1 : i64
  %6 = tid 4 : i32
  %7 = launch_dim 4 : i32
  return
}
kernel @k() {

  return
}

;; expect:
; V016: @g, `%5 = extract %0, 2 : f32`: index 2 of 2
; V016: @g, `%6 = extract %1, 1 : f32`: index 1 of 1
; V016: @g, `%7 = insert %0, %4, 2 : vec<2, f32>`: index 2 of 2
; V016: @g, `%8 = field %2, 1 : ref<f32>`: index 1 of 1
; V016: @g, `%9 = shape %3, 1 : i32`: index 1 of 1
; V016: @g, `%10 = stride %3, 1 : i64`: index 1 of 1
; V016: @g, `%11 = tid 4 : i32`: index 4 of 4
; V016: @g, `%12 = launch_dim 4 : i32`: index 4 of 4
