;; test access
; Comparing an address with zero is no use of what lies there.

func @add(%0 x: array<f32, 1>, %1 v: f32) {
  %i = const 0 : i32
  %g = grad_array %0 : array<f32, 1>
  %address = address %g : u64
  %none = const 0 : u64
  %there = ne %address, %none : bool
  if %there {
    %p = elem %g, %i : ref<f32>
    %old = atomic_add %p, %1 : f32
    yield
  } else {
    yield
  }
  return
}

kernel @k(%0 x: array<f32, 1>, %1 y: array<f32, 1>, %2 z: array<f32, 1>) {
  %i = const 0 : i32
  %g = grad_array %1 : array<f32, 1>
  %p = elem %g, %i : ref<f32>
  %v = load %p : f32
  call @add(%0, %v)
  return
}

;; expect:
; x: nothing; gradient: read and written
; y: nothing; gradient: read
; z: nothing
; other memory: nothing
