;; test verify

kernel @k() {
  %0 = const 128 : i8
  %1 = const -1 : u32
  %2 = const 1.5 : i32
  %3 = const 1 : f32
  %4 = const true : i8
  %5 = const 0x3fb999999999999a : f32
  %6 = const nan : i32
  %7 = const nan : f16
  %8 = const 1 : bool
  return
}

;; expect:
; V017: @k, `%0 = const 128 : i8`: the constant is not a value of i8
; V017: @k, `%1 = const -1 : u32`: the constant is not a value of u32
; V017: @k, `%2 = const 1.5 : i32`: the constant is not a value of i32
; V017: @k, `%3 = const 1 : f32`: the constant is not a value of f32
; V017: @k, `%4 = const true : i8`: the constant is not a value of i8
; V017: @k, `%5 = const 0x3fb999999999999a : f32`: the constant is not a value of f32
; V017: @k, `%6 = const nan : i32`: the constant is not a value of i32
; V017: @k, `%8 = const 1 : bool`: the constant is not a value of bool
