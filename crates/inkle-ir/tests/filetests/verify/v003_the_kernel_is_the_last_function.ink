;; test verify

kernel @a() {
  return
}
func @b() {
  return
}

;; expect:
; V003: @a: a kernel that is not the last function
; V003: @b: the last function is not a kernel
