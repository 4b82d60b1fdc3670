;; test simplify common

kernel @k(%o: array<i32, 1>, %p: array<u32, 1>, %x: f32) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<i32>
  %f = elem %p, %z : ref<u32>
  %a = cast %x : i32
  %b = cast %x : u32
  store %e, %a
  store %f, %b
  %y = const 0 : u32
  store %f, %y
  return
}

;; expect:
kernel @k(%0 o: array<i32, 1>, %1 p: array<u32, 1>, %2 x: f32) {
  %3 = const 0 : i32
  %4 = elem %0, %3 : ref<i32>
  %5 = elem %1, %3 : ref<u32>
  %6 = cast %2 : i32
  %7 = cast %2 : u32
  store %4, %6
  store %5, %7
  %8 = const 0 : u32
  store %5, %8
  return
}
