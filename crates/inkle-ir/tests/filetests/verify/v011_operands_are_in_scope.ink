;; test verify
; Not before their definition, beside or after the block, nor in a loop's own blocks.

kernel @k(%c: bool, %n: i32) {
  %a = add %b, %n : i32
  %b = add %n, %n : i32
  if %c {
    %d = add %n, %n : i32
    yield
  } else {
    %e = add %d, %n : i32
    yield
  }
  %f = add %d, %n : i32
  %g = for %i: i32 = %n, %n, %n carry(%h: i32 = %n) -> (i32) {
    yield %g
  }
  %j = add %i, %n : i32
  return
}

;; expect:
; V011: @k, `%2 = add %3, %1 : i32`: operand 1 is not in scope
; V011: @k, `%5 = add %4, %1 : i32`: operand 1 is not in scope
; V011: @k, `%6 = add %4, %1 : i32`: operand 1 is not in scope
; V011: @k, `yield %7`: operand 1 is not in scope
; V011: @k, `%10 = add %8, %1 : i32`: operand 1 is not in scope
