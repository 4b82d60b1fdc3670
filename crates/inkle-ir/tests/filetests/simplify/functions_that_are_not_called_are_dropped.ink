;; test simplify functions
; Nor are those kept that only they call.

func @a() {
  return
}
func @b() {
  call @a()
  return
}
func @c() {
  print "c"
  return
}
func @d() {
  call @c()
  return
}
kernel @k() {
  call @d()
  return
}

;; expect:
func @c() {
  print "c"
  return
}

func @d() {
  call @c()
  return
}

kernel @k() {
  call @d()
  return
}
