; Each factor's gradient needs the product so far: checkpoints.
;; grads clear clear

kernel @k(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 1.0 : f32
  %6 = for %7: i32 = %3, %1, %4 carry(%8: f32 = %5) -> (f32) {
    %9 = elem %0, %7 : ref<f32>
    %10 = load %9 : f32
    %11 = mul %8, %10 : f32
    yield %11
  }
  %12 = elem %2, %3 : ref<f32>
  store %12, %6
  return
}

;; expect:
kernel @k.backward(%0 x: array<f32, 1>, %1 n: i32, %2 y: array<f32, 1>) {
  %3 = const 0 : i32
  %4 = const 1 : i32
  %5 = const 1.0 : f32
  %6 = grad_array %2 : array<f32, 1>
  %7 = elem %6, %3 : ref<f32>
  %8 = load %7 : f32
  %9 = const 0.0 : f32
  store %7, %9
  %10 = max %1, %3 : i32
  %11 = local 34 : array<i32, 1>
  %12 = local 34 : array<f32, 1>
  %13 = elem %12, %3 : ref<f32>
  store %13, %5
  %14, %15 = for %16: i32 = %3, %10, %4 carry(%17: f32 = %8, %18: i32 = %3) -> (f32, i32) {
    %19 = sub %10, %4 : i32
    %20 = sub %19, %16 : i32
    %21 = elem %11, %18 : ref<i32>
    %22 = load %21 : i32
    %23 = gt %22, %20 : bool
    %24 = sub %18, %4 : i32
    %25 = select %23, %24, %18 : i32
    %26 = while carry(%27: i32 = %25) -> (i32) {
      %28 = elem %11, %27 : ref<i32>
      %29 = load %28 : i32
      %30 = lt %29, %20 : bool
      yield %30
    } do(%31: i32) {
      %32 = const 2 : i32
      %33 = elem %11, %31 : ref<i32>
      %34 = load %33 : i32
      %35 = sub %20, %34 : i32
      %36 = add %35, %4 : i32
      %37 = div %36, %32 : i32
      %38 = add %34, %37 : i32
      %39 = elem %12, %31 : ref<f32>
      %40 = load %39 : f32
      %41 = for %42: i32 = %34, %38, %4 carry(%43: f32 = %40) -> (f32) {
        %44 = elem %0, %42 : ref<f32>
        %45 = load %44 : f32
        %46 = mul %43, %45 : f32
        yield %46
      }
      %47 = add %31, %4 : i32
      %48 = elem %11, %47 : ref<i32>
      store %48, %38
      %49 = elem %12, %47 : ref<f32>
      store %49, %41
      yield %47
    }
    %50 = elem %12, %26 : ref<f32>
    %51 = load %50 : f32
    %52 = elem %0, %20 : ref<f32>
    %53 = load %52 : f32
    %54 = mul %17, %53 : f32
    %55 = mul %17, %51 : f32
    %56 = grad_array %0 : array<f32, 1>
    %57 = elem %56, %20 : ref<f32>
    %58 = atomic_add %57, %55 : f32
    yield %54, %26
  }
  return
}
