;; test simplify

kernel @k(%c: bool) {
  %n = not %c : bool
  if %n {
    print "not c"
    yield
  } else {
    print "c"
    yield
  }
  return
}

;; expect:
kernel @k(%0 c: bool) {
  if %0 {
    print "c"
    yield
  } else {
    print "not c"
    yield
  }
  return
}
