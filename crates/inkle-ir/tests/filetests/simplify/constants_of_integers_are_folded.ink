;; test simplify fold
; Integers wrap in their width.

kernel @k(%o: array<i8, 1>) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i8>
  %a = const 127 : i8
  %b = const 1 : i8
  %c = add %a, %b : i8
  store %e, %c
  %d = mul %a, %a : i8
  store %e, %d
  %f = shl %a, %b : i8
  store %e, %f
  %g = popcount %a : i8
  store %e, %g
  %h = floordiv %c, %a : i8
  store %e, %h
  return
}

;; expect:
kernel @k(%0 o: array<i8, 1>) {
  %1 = const 0 : i32
  %2 = elem %0, %1 : ref<i8>
  %3 = const 127 : i8
  %4 = const 1 : i8
  %5 = const -128 : i8
  store %2, %5
  %6 = const 1 : i8
  store %2, %6
  %7 = const -2 : i8
  store %2, %7
  %8 = const 7 : i8
  store %2, %8
  %9 = const -2 : i8
  store %2, %9
  return
}
