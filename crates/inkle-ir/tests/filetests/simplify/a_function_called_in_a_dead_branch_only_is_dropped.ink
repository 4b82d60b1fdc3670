;; test simplify

func @a() {
  print "a"
  return
}
func @b() {
  print "b"
  return
}
kernel @k() {
  %t = const false : bool
  if %t {
    call @a()
    yield
  } else {
    call @b()
    yield
  }
  return
}

;; expect:
func @b() {
  print "b"
  return
}

kernel @k() {
  call @b()
  return
}
