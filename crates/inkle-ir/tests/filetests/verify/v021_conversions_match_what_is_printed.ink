;; test verify

kernel @k(%x: f32, %i: i32, %v: vec<3, f32>, %b: bool) {
  print "%d %f", %x, %i
  print "%d"
  print "100%% of %g %g %g %d\n", %v, %b
  print "%s", %i
  print "%f %f", %v
  print "%"
  return
}

;; expect:
; V021: @k, `print "%d %f", %0, %1`: operand 1 is f32; its conversion is for others
; V021: @k, `print "%d"`: has 1 conversions for 0 components
; V021: @k, `print "%s", %1`: `%s` is not a conversion that can be printed
; V021: @k, `print "%f %f", %2`: has 2 conversions for 3 components
; V021: @k, `print "%"`: `%` is not a conversion that can be printed
