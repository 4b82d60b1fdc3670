;; kernel prints
kernel @prints(%0 n: i32, %1 f: f32, %2 b: bool, %3 v: vec<3, f32>, %4 q: quat<f32>, %5 l: i64) {
  print "%d\n", %0
  print "%g\n", %1
  if %2 {
    print "True\n"
    yield
  } else {
    print "False\n"
    yield
  }
  %6 = extract %3, 0 : f32
  %7 = extract %3, 1 : f32
  %8 = extract %3, 2 : f32
  print "%g %g %g \n", %6, %7, %8
  %9 = extract %4, 0 : f32
  %10 = extract %4, 1 : f32
  %11 = extract %4, 2 : f32
  %12 = extract %4, 3 : f32
  print "%g %g %g %g\n", %9, %10, %11, %12
  print "text 100%%\n"
  print "n = "
  print "%d", %0
  print ", v = "
  print "%g %g %g ", %6, %7, %8
  print "\n"
  print "%.2f", %1
  print " "
  print "%+8.3e %+8.3e %+8.3e ", %6, %7, %8
  print " "
  print "%06lld", %5
  print " "
  print "%-4x", %0
  print "|"
  print "%9g", %1
  print "\n"
  print "%d %5.2f %lld text %%\n", %0, %1, %5
  breakpoint
  %13 = const 0 : i32
  %14 = gt %0, %13 : bool
  assert %14, "Assertion failed: assert n > 0: n is too small"
  %15 = const 3 : i32
  %16 = ne %0, %15 : bool
  if %16 {
    print "Error, expect_eq(n, 3) failed\n"
    yield
  } else {
    yield
  }
  return
}
