;; test verify
; There is no recursion.

func @f() {
  call @f()
  call @g()
  call @k()
  return
}
func @g() {
  call @f()
  return
}
kernel @k() {
  call @g()
  return
}

;; expect:
; V020: @f, `call @f()`: the callee does not come before its caller
; V020: @f, `call @g()`: the callee does not come before its caller
; V020: @f, `call @k()`: the callee does not come before its caller
