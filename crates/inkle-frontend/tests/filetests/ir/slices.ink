;; kernel constant_bounds
kernel @constant_bounds(%0 a: array<f32, 1>, %1 m: array<f32, 2>) {
  %2 = shape %0, 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const -1 : i32
  %6 = sub %2, %4 : i32
  %7 = min %2, %4 : i32
  %8 = const 4 : i32
  %9 = min %2, %8 : i32
  %10 = sub %9, %7 : i32
  %11 = max %10, %3 : i32
  %12 = window %0, %7, %11, %4, 0 : array<f32, 1>
  %13 = elem %12, %3 : ref<f32>
  %14 = const 1.0 : f32
  store %13, %14
  %15 = const 2 : i32
  %16 = elem %0, %15 : ref<f32>
  %17 = const 2.0 : f32
  store %16, %17
  %18 = const -3 : i32
  %19 = add %2, %18 : i32
  %20 = max %19, %3 : i32
  %21 = add %2, %5 : i32
  %22 = max %21, %3 : i32
  %23 = sub %22, %20 : i32
  %24 = max %23, %3 : i32
  %25 = window %0, %20, %24, %4, 0 : array<f32, 1>
  %26 = elem %25, %3 : ref<f32>
  %27 = const 3.0 : f32
  store %26, %27
  %28 = max %2, %3 : i32
  %29 = div %28, %15 : i32
  %30 = rem %28, %15 : i32
  %31 = ne %30, %3 : bool
  %32 = cast %31 : i32
  %33 = add %29, %32 : i32
  %34 = window %0, %3, %33, %15, 0 : array<f32, 1>
  %35 = elem %34, %3 : ref<f32>
  %36 = const 4.0 : f32
  store %35, %36
  %37 = sub %6, %5 : i32
  %38 = max %37, %3 : i32
  %39 = gt %38, %3 : bool
  %40 = select %39, %6, %3 : i32
  %41 = window %0, %40, %38, %5, 0 : array<f32, 1>
  %42 = elem %41, %3 : ref<f32>
  %43 = const 5.0 : f32
  store %42, %43
  %44 = const 5 : i32
  %45 = min %6, %44 : i32
  %46 = min %6, %4 : i32
  %47 = sub %45, %46 : i32
  %48 = max %47, %3 : i32
  %49 = const -2 : i32
  %50 = div %48, %15 : i32
  %51 = rem %48, %15 : i32
  %52 = ne %51, %3 : bool
  %53 = cast %52 : i32
  %54 = add %50, %53 : i32
  %55 = gt %54, %3 : bool
  %56 = select %55, %45, %3 : i32
  %57 = window %0, %56, %54, %49, 0 : array<f32, 1>
  %58 = elem %57, %3 : ref<f32>
  %59 = const 6.0 : f32
  store %58, %59
  %60 = elem %1, %15, %4 : ref<f32>
  %61 = const 7.0 : f32
  store %60, %61
  %62 = shape %1, 0 : i32
  %63 = min %62, %4 : i32
  %64 = const 3 : i32
  %65 = min %62, %64 : i32
  %66 = sub %65, %63 : i32
  %67 = max %66, %3 : i32
  %68 = window %1, %63, %67, %4, 0 : array<f32, 2>
  %69 = elem %68, %4, %3 : ref<f32>
  %70 = const 8.0 : f32
  store %69, %70
  %71 = sub %62, %63 : i32
  %72 = max %71, %3 : i32
  %73 = window %1, %63, %72, %4, 0 : array<f32, 2>
  %74 = shape %1, 1 : i32
  %75 = min %74, %4 : i32
  %76 = sub %74, %75 : i32
  %77 = max %76, %3 : i32
  %78 = window %73, %75, %77, %4, 1 : array<f32, 2>
  %79 = elem %78, %3, %3 : ref<f32>
  %80 = const 9.0 : f32
  store %79, %80
  %81 = elem %1, %4, %3 : ref<f32>
  %82 = const 10.0 : f32
  store %81, %82
  %83 = elem %1, %3, %4 : ref<f32>
  %84 = const 11.0 : f32
  store %83, %84
  %85 = const 12.0 : f32
  store %83, %85
  return
}

;; kernel bounds_at_run_time
kernel @bounds_at_run_time(%0 a: array<f32, 1>, %1 n: i32, %2 wide: i64) {
  %3 = shape %0, 0 : i32
  %4 = const 0 : i32
  %5 = const 1 : i32
  %6 = const -1 : i32
  %7 = sub %3, %5 : i32
  %8 = min %1, %3 : i32
  %9 = lt %1, %4 : bool
  %10 = add %1, %3 : i32
  %11 = max %10, %4 : i32
  %12 = select %9, %11, %8 : i32
  %13 = sub %3, %12 : i32
  %14 = max %13, %4 : i32
  %15 = window %0, %12, %14, %5, 0 : array<f32, 1>
  %16 = elem %15, %4 : ref<f32>
  %17 = const 1.0 : f32
  store %16, %17
  %18 = tid 0 : i32
  %19 = min %18, %3 : i32
  %20 = max %19, %4 : i32
  %21 = window %0, %4, %20, %5, 0 : array<f32, 1>
  %22 = elem %21, %4 : ref<f32>
  %23 = const 2.0 : f32
  store %22, %23
  %24 = cast %3 : i64
  %25 = const 0 : i64
  %26 = cast %1 : i64
  %27 = min %26, %24 : i64
  %28 = lt %26, %25 : bool
  %29 = add %26, %24 : i64
  %30 = max %29, %25 : i64
  %31 = select %28, %30, %27 : i64
  %32 = min %2, %24 : i64
  %33 = lt %2, %25 : bool
  %34 = add %2, %24 : i64
  %35 = max %34, %25 : i64
  %36 = select %33, %35, %32 : i64
  %37 = sub %36, %31 : i64
  %38 = max %37, %25 : i64
  %39 = cast %31 : i32
  %40 = cast %38 : i32
  %41 = window %0, %39, %40, %5, 0 : array<f32, 1>
  %42 = elem %41, %4 : ref<f32>
  %43 = const 3.0 : f32
  store %42, %43
  %44 = ne %1, %4 : bool
  assert %44, "slice step cannot be zero"
  %45 = gt %1, %4 : bool
  %46 = select %45, %4, %7 : i32
  %47 = select %45, %3, %6 : i32
  %48 = sub %47, %46 : i32
  %49 = sub %46, %47 : i32
  %50 = select %45, %48, %49 : i32
  %51 = max %50, %4 : i32
  %52 = const -2147483647 : i32
  %53 = const 2147483647 : i32
  %54 = max %1, %52 : i32
  %55 = min %54, %53 : i32
  %56 = abs %55 : i32
  %57 = max %56, %5 : i32
  %58 = div %51, %57 : i32
  %59 = rem %51, %57 : i32
  %60 = ne %59, %4 : bool
  %61 = cast %60 : i32
  %62 = add %58, %61 : i32
  %63 = gt %62, %4 : bool
  %64 = select %63, %46, %4 : i32
  %65 = window %0, %64, %62, %55, 0 : array<f32, 1>
  %66 = elem %65, %4 : ref<f32>
  %67 = const 4.0 : f32
  store %66, %67
  return
}

;; kernel of_slices
kernel @of_slices(%0 m: array<i32, 2>, %1 out: array<i32, 1>) {
  %2 = shape %0, 0 : i32
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const -1 : i32
  %6 = min %2, %4 : i32
  %7 = const 3 : i32
  %8 = min %2, %7 : i32
  %9 = sub %8, %6 : i32
  %10 = max %9, %3 : i32
  %11 = window %0, %6, %10, %4, 0 : array<i32, 2>
  %12 = shape %0, 1 : i32
  %13 = elem %1, %3 : ref<i32>
  store %13, %10
  %14 = elem %1, %4 : ref<i32>
  store %14, %12
  %15 = max %12, %3 : i32
  %16 = const 2 : i32
  %17 = div %15, %16 : i32
  %18 = rem %15, %16 : i32
  %19 = ne %18, %3 : bool
  %20 = cast %19 : i32
  %21 = add %17, %20 : i32
  %22 = window %11, %3, %21, %16, 1 : array<i32, 2>
  %23 = elem %1, %16 : ref<i32>
  store %23, %21
  %24 = add %10, %5 : i32
  %25 = add %21, %5 : i32
  %26 = elem %22, %24, %25 : ref<i32>
  %27 = load %26 : i32
  %28 = elem %1, %7 : ref<i32>
  store %28, %27
  return
}
