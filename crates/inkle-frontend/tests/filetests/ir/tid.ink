;; kernel one
kernel @one(%0 out: array<i32, 1>) {
  %1 = tid 0 : i32
  %2 = elem %0, %1 : ref<i32>
  store %2, %1
  return
}

;; kernel three
kernel @three(%0 out: array<i32, 3>) {
  %1 = tid 0 : i32
  %2 = tid 1 : i32
  %3 = tid 2 : i32
  %4 = mul %1, %2 : i32
  %5 = add %4, %3 : i32
  %6 = elem %0, %1, %2, %3 : ref<i32>
  store %6, %5
  return
}
