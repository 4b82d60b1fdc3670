;; test simplify

kernel @k(%c: bool) {
  %t = const true : bool
  assert %t, "always"
  assert %c, "perhaps"
  return
}

;; expect:
kernel @k(%0 c: bool) {
  assert %0, "perhaps"
  return
}
