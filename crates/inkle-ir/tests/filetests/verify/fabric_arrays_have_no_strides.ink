;; test verify

kernel @parts(%0 a: fabricarray<f32, 1>, %1 i: i32) {
  %2 = elem %0, %1 : ref<f32>
  %3 = shape %0, 0 : i32
  %4 = extract %0, 3 : i32
  return
}

;; expect:
; V014: @parts, `%2 = elem %0, %1 : ref<f32>`: operand 1 is fabricarray<f32, 1>, not an array that is not in buckets
; V014: @parts, `%3 = shape %0, 0 : i32`: operand 1 is fabricarray<f32, 1>, not an array that is not in buckets
; V016: @parts, `%4 = extract %0, 3 : i32`: index 3 of 3
