;; test simplify dead
; A for ends; a while may not, and stays.

kernel @k(%x: f32, %n: i32, %c: bool) {
  %z = const 0 : i32
  %a = for %i: i32 = %z, %n, %n carry(%b: f32 = %x) -> (f32) {
    %d = mul %b, %b : f32
    yield %d
  }
  %e = while carry(%f: f32 = %x) -> (f32) {
    yield %c
  } do(%g: f32) {
    %h = mul %g, %g : f32
    yield %h
  }
  return
}

;; expect:
kernel @k(%0 x: f32, %1 n: i32, %2 c: bool) {
  while {
    yield %2
  } do {
    yield
  }
  return
}
