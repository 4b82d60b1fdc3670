;; test simplify

kernel @k(%o: array<i32, 1>, %c: bool) {
  %z = const 0 : i32
  %i = tid 0 : i32
  %e = elem %o, %i : ref<i32>
  %a = load %e : i32
  store %e, %z
  %b = load %e : i32
  %d = add %a, %b : i32
  store %e, %d
  if %c {
    store %e, %a
    yield
  } else {
    yield
  }
  assert %c, "c"
  print "%d", %d
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 c: bool) {
  %2 = const 0 : i32
  %3 = tid 0 : i32
  %4 = elem %0, %3 : ref<i32>
  %5 = load %4 : i32
  store %4, %2
  %6 = load %4 : i32
  %7 = add %5, %6 : i32
  store %4, %7
  if %1 {
    store %4, %5
    yield
  } else {
    yield
  }
  assert %1, "c"
  print "%d", %7
  return
}
