;; test verify

struct S { a: f32 }

native @right(%0 x: f32, %1 s: struct S, %2 r: ref<f32>) -> (vec<3, f32>) "return {};"

native @two_results(%0 x: f32) -> (f32, f32) "return x;"

native @gives_a_struct(%0 x: f32) -> (struct S) "return {};"

native @names(%0 "a b": f32, %1 x: f32, %2 x: f32, %3 "1st": f32) "x = 0;"

native @last() "// no kernel"

;; expect:
; V023: @two_results: a native function gives one result, not 2
; V023: @gives_a_struct: a native function cannot give a struct S
; V023: @names: `a b` is not a name in C
; V023: @names: two parameters are called `x`
; V023: @names: `1st` is not a name in C
; V003: @last: the last function is not a kernel
