;; test simplify

struct S { a: f32, b: i32 }
kernel @k(%o: array<struct S, 1>, %x: f32) {
  %z = const 0 : i32
  %a = construct %x, %z : struct S
  %one = const 1 : i32
  %r = insert %a, %one, 1 : struct S
  %at = elem %o, %z : ref<struct S>
  store %at, %r
  return
}

;; expect:
struct S { a: f32, b: i32 }

kernel @k(%0 o: array<struct S, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = const 1 : i32
  %4 = construct %1, %3 : struct S
  %5 = elem %0, %2 : ref<struct S>
  store %5, %4
  return
}
