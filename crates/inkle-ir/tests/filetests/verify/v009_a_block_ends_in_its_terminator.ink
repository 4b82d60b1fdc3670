;; test verify

func @a() {
}
func @b() {
  %a = const 1 : i32
}
func @c() {
  return
  return
}
func @d(%c: bool) {
  yield
}
kernel @k(%c: bool) {
  if %c {
    return
  } else {
  }
  return
}

;; expect:
; V009: @a: the body is empty
; V009: @b, `%0 = const 1 : i32`: a block ends in a terminator
; V009: @c, `return`: a terminator before the block's end
; V009: @d, `yield`: this block ends in `return`
; V009: @k, `return`: this block ends in `yield`
; V009: @k, `if %0`: a block is empty; it ends in `yield`
