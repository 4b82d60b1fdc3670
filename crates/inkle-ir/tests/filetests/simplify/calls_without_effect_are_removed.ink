;; test simplify dead
; A function that stores, or may not end, has one.

func @load(%p: ref<f32>) -> (f32) {
  %a = load %p : f32
  return %a
}
func @store(%p: ref<f32>, %x: f32) {
  store %p, %x
  return
}
func @spin(%c: bool) {
  while {
    yield %c
  } do {
    yield
  }
  return
}
func @outer(%p: ref<f32>) {
  %a = load %p : f32
  call @store(%p, %a)
  return
}
kernel @k(%o: array<f32, 1>, %x: f32, %c: bool) {
  %z = const 0 : i32
  %e = elem %o, %z : ref<f32>
  %a = call @load(%e) : f32
  call @store(%e, %x)
  call @spin(%c)
  call @outer(%e)
  return
}

;; expect:
func @load(%0 p: ref<f32>) -> (f32) {
  %1 = load %0 : f32
  return %1
}

func @store(%0 p: ref<f32>, %1 x: f32) {
  store %0, %1
  return
}

func @spin(%0 c: bool) {
  while {
    yield %0
  } do {
    yield
  }
  return
}

func @outer(%0 p: ref<f32>) {
  %1 = load %0 : f32
  call @store(%0, %1)
  return
}

kernel @k(%0 o: array<f32, 1>, %1 x: f32, %2 c: bool) {
  %3 = const 0 : i32
  %4 = elem %0, %3 : ref<f32>
  call @store(%4, %1)
  call @spin(%2)
  call @outer(%4)
  return
}
