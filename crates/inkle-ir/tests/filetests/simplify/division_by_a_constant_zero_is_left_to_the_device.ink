;; test simplify fold

kernel @k(%o: array<i32, 1>) {
  %z = const 0 : i32
  %a = const 7 : i32
  %b = div %a, %z : i32
  %c = const 32 : i32
  %d = shl %a, %c : i32
  %r = add %b, %d : i32
  %at = elem %o, %z : ref<i32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>) {
  %1 = const 0 : i32
  %2 = const 7 : i32
  %3 = div %2, %1 : i32
  %4 = const 32 : i32
  %5 = shl %2, %4 : i32
  %6 = add %3, %5 : i32
  %7 = elem %0, %1 : ref<i32>
  store %7, %6
  return
}
