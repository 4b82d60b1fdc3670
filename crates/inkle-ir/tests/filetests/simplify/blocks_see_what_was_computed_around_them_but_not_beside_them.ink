;; test simplify common

kernel @k(%o: array<i32, 1>, %x: i32, %c: bool) {
  %z = const 0 : i32
  %a = add %x, %x : i32
  %r = if %c -> (i32) {
    %b = add %x, %x : i32
    %d = mul %b, %x : i32
    yield %d
  } else {
    %f = mul %x, %x : i32
    %g = mul %a, %x : i32
    %h = add %f, %g : i32
    yield %h
  }
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 x: i32, %2 c: bool) {
  %3 = const 0 : i32
  %4 = add %1, %1 : i32
  %5 = if %2 -> (i32) {
    %6 = mul %4, %1 : i32
    yield %6
  } else {
    %7 = mul %1, %1 : i32
    %8 = mul %4, %1 : i32
    %9 = add %7, %8 : i32
    yield %9
  }
  %10 = elem %0, %3 : ref<i32>
  store %10, %5
  return
}
