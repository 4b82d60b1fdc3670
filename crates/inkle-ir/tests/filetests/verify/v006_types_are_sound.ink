;; test verify

struct S { r: ref<f32> }
struct Big { a: mat<60000x60000, f64> }
kernel @k(%a: vec<0, f32>, %b: array<f32, 5>, %c: array<array<f32, 1>, 1>, %d: struct Big) {
  %e = zero : ref<ref<f32>>
  %f = zero : struct S
  %g = zero : mat<65537x65537, f32>
  return
}

;; expect:
; V006: @k: vec<0, f32> has 0 components, not 1 to 65536
; V006: @k: array<f32, 5> has 5 dimensions, not 1 to 4
; V006: @k: array<array<f32, 1>, 1> is an array of array<f32, 1>
; V006: @k: mat<60000x60000, f64> has 3600000000 components, not 1 to 65536
; V006: @k, `%4 = zero : ref<ref<f32>>`: ref<ref<f32>> is a ref to a ref
; V006: @k, `%5 = zero : struct S`: field `r` of struct S is a ref<f32>
; V006: @k, `%6 = zero : mat<65537x65537, f32>`: mat<65537x65537, f32> has 4295098369 components, not 1 to 65536
