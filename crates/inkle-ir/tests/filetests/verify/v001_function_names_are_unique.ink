;; test verify

func @f() {
  return
}
func @f() {
  return
}
kernel @k() {

  return
}

;; expect:
; V001: @f: an earlier function has this name
