;; test verify

func @f(%a: f32) {
  return
}
kernel @k(%x: f32, %o: array<f32, 2>, %i: i32) {
  %a = add %x : f32
  %b = neg %x, %x : f32
  %c = const %x, 1.0 : f32
  %d = construct %x : vec<2, f32>
  %e = elem %o, %i : ref<f32>
  %g = view %o, %i, %i, 0 : array<f32, 1>
  %l = local %i, 4 : array<f32, 1>
  %m = window %o, %i, %i, 0 : array<f32, 2>
  %n = array_at : array<f32, 1>
  %u = zero : u64
  %p = array_at %u, %i, %i : array<f32, 1>
  call @f()
  %h = elem : ref<f32>
  for %j: i32 = %i, %i, _ {
    yield
  }
  return
}

;; expect:
; V012: @k, `%3 = add %0 : f32`: takes 2 operands, has 1
; V012: @k, `%4 = neg %0, %0 : f32`: takes 1 operands, has 2
; V012: @k, `%5 = const %0, 1.0 : f32`: takes 0 operands, has 1
; V012: @k, `%6 = construct %0 : vec<2, f32>`: vec<2, f32> is made of 2 parts, not 1
; V012: @k, `%7 = elem %1, %2 : ref<f32>`: takes 2 indices, has 1
; V012: @k, `%8 = view %1, %2, %2, 0 : array<f32, 1>`: takes 2 operands, has 3
; V012: @k, `%9 = local 4, %2 : array<f32, 1>`: takes 0 operands, has 1
; V012: @k, `%10 = window %1, %2, %2, 0 : array<f32, 2>`: takes 4 operands, has 3
; V012: @k, `%11 = array_at : array<f32, 1>`: takes an address and extents, has 0 operands
; V012: @k, `%13 = array_at %12, %2, %2 : array<f32, 1>`: takes 1 extents, has 2
; V012: @k, `call @f()`: takes 1 operands, has 0
; V012: @k, `%14 = elem : ref<f32>`: takes an array and indices, has 0 operands
; V012: @k, `for %15: i32 = %2, %2, _`: takes 3 or more operands, has 2
