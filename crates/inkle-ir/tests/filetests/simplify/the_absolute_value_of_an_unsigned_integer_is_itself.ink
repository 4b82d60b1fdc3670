;; test simplify
; So a negation under it stays.

kernel @k(%o: array<u32, 1>, %x: u32) {
  %z = const 0 : i32
  %a = neg %x : u32
  %r = abs %a : u32
  %at = elem %o, %z : ref<u32>
  store %at, %r
  return
}

;; expect:
kernel @k(%0 o: array<u32, 1>, %1 x: u32) {
  %2 = const 0 : i32
  %3 = neg %1 : u32
  %4 = elem %0, %2 : ref<u32>
  store %4, %3
  return
}
