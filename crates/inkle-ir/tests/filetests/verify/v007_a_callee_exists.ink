;; test verify

kernel @k() {
  call @#7()
  return
}

;; expect:
; V007: @k, `call @#7()`: the callee does not exist
