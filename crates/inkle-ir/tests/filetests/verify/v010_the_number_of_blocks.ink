;; test verify

kernel @k(%c: bool, %n: i32) {
  if %c {
    yield
  }
  for %i: i32 = %n, %n, %n {
    yield
  } block {
    yield
  }
  return
}

;; expect:
; V010: @k, `if %0`: owns 1 blocks, not 2
; V010: @k, `for %2: i32 = %1, %1, %1`: owns 2 blocks, not 1
