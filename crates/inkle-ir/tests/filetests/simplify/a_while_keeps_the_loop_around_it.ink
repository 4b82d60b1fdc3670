;; test simplify dead

kernel @k(%n: i32, %c: bool) {
  %z = const 0 : i32
  for %i: i32 = %z, %n, %n {
    while {
      yield %c
    } do {
      yield
    }
    yield
  }
  return
}

;; expect:
kernel @k(%0 n: i32, %1 c: bool) {
  %2 = const 0 : i32
  for %3: i32 = %2, %0, %0 {
    while {
      yield %1
    } do {
      yield
    }
    yield
  }
  return
}
