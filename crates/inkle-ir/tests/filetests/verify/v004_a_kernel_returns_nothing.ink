;; test verify

kernel @k(%x: ref<f32>) -> (f32) {
  %a = load %x : f32
  return %a
}

;; expect:
; V004: @k: a kernel returns nothing
; V004: @k: parameter `x` of a kernel is a ref<f32>
