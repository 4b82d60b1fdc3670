;; test print

kernel @parts(%0 a: fabricarray<vec<3, f64>, 1>, %1 b: indexedfabricarray<f32, 2>) {
  %2 = extract %0, 0 : array<u64, 2>
  %3 = extract %1, 1 : array<i32, 1>
  %4 = extract %1, 2 : i32
  return
}

;; expect:
kernel @parts(%0 a: fabricarray<vec<3, f64>, 1>, %1 b: indexedfabricarray<f32, 2>) {
  %2 = extract %0, 0 : array<u64, 2>
  %3 = extract %1, 1 : array<i32, 1>
  %4 = extract %1, 2 : i32
  return
}
