; The old values of atomics: each thread owns its slot.
kernel @k(%x: array<i32, 1>, %y: array<i32, 1>, %f: array<f32, 1>) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<i32>
  %v = load %e : i32
  %o = elem %y, %i : ref<i32>
  %a = atomic_exch %o, %v : i32
  %b = atomic_add %o, %a : i32
  %c = atomic_cas %o, %b, %v : i32
  %t = add %b, %c : i32
  %d = atomic_max %o, %t : i32
  %s = add %t, %d : i32
  store %e, %s
  %fe = elem %f, %i : ref<f32>
  %fv = cast %v : f32
  %g = atomic_exch %fe, %fv : f32
  %h = atomic_sub %fe, %g : f32
  %k = atomic_cas %fe, %h, %g : f32
  %l = add %k, %h : f32
  %n = atomic_min %fe, %l : f32
  return
}
