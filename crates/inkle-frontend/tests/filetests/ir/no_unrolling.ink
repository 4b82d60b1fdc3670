;; kernel small
kernel @small(%0 out: array<i32, 1>) {
  %1 = const 0 : i32
  %2 = const 3 : i32
  %3 = const 1 : i32
  for %4: i32 = %1, %2, %3 {
    %5 = elem %0, %4 : ref<i32>
    store %5, %4
    yield
  }
  return
}
