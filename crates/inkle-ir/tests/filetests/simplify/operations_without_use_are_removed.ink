;; test simplify dead
; Loads too; atomics, stores and prints stay.

kernel @k(%o: array<f32, 1>, %x: f32) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<f32>
  %a = load %e : f32
  %b = sin %a : f32
  %c = atomic_add %e, %x : f32
  %d = atomic_cas %e, %x, %x : f32
  print "hello"
  return
}

;; expect:
kernel @k(%0 o: array<f32, 1>, %1 x: f32) {
  %2 = const 0 : i32
  %3 = elem %0, %2 : ref<f32>
  %4 = atomic_add %3, %1 : f32
  %5 = atomic_cas %3, %1, %1 : f32
  print "hello"
  return
}
