;; test access

kernel @k(%0 a: array<f32, 1>, %1 b: array<f32, 1>, %2 c: array<f32, 1>, %3 d: array<f32, 1>, %4 e: array<f32, 1>, %5 f: array<f32, 1>, %6 g: array<f32, 1>, %7 h: array<f32, 1>, %8 i: array<f32, 1>, %9 j: array<f32, 1>, %10 k: array<f32, 1>, %11 l: array<f32, 1>, %12 m: array<f32, 1>, %13 n: array<f32, 1>, %14 o: array<f32, 1>, %15 p: array<f32, 1>, %16 q: array<f32, 1>, %17 r: array<f32, 1>, %18 s: array<f32, 1>, %19 t: array<f32, 1>, %20 u: array<f32, 1>, %21 v: array<f32, 1>, %22 w: array<f32, 1>) {
  %zero = const 0 : i32
  %from = elem %22, %zero : ref<f32>
  %x = load %from : f32
  %to = elem %21, %zero : ref<f32>
  store %to, %x
  return
}

;; expect:
; a: nothing
; b: nothing
; c: nothing
; d: nothing
; e: nothing
; f: nothing
; g: nothing
; h: nothing
; i: nothing
; j: nothing
; k: nothing
; l: nothing
; m: nothing
; n: nothing
; o: nothing
; p: nothing
; q: nothing
; r: nothing
; s: nothing
; t: nothing
; u: nothing
; v: written
; w: read
; other memory: nothing
