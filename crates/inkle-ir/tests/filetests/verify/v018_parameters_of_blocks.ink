;; test verify

kernel @k(%x: f32, %i: i32, %b: bool) {
  for %k: i64 = %i, %i, %i { yield }
  %a = for %l: i32 = %i, %i, %i carry(%m: i32 = %x) -> (f32) { yield %x }
  %c = while carry(%d: f32 = %x) -> (f32) { yield %b } do { yield %x }
  if %b then(%e: f32) { yield } else { yield }
  if %b { yield } else(%f: f32) { yield }
  %g = for _ = %i, %i, %i carry(_ = %x) -> (f32) { yield %x }
  return
}

;; expect:
; V018: @k, `for %3: i64 = %1, %1, %1`: block 1 takes (i64), not (i32)
; V018: @k, `%4 = for %5: i32 = %1, %1, %1 carry(%6: i32 = %0) -> (f32)`: block 1 takes (i32, i32), not (i32, f32)
; V018: @k, `%7 = while carry(%8: f32 = %0) -> (f32)`: block 2 takes (), not (f32)
; V018: @k, `if %2`: block 1 takes (f32), not ()
; V018: @k, `if %2`: block 2 takes (f32), not ()
; V018: @k, `%11 = for _ = %1, %1, %1 carry(_ = %0) -> (f32)`: block 1 takes (), not (i32, f32)
