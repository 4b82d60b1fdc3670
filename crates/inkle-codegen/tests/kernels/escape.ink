; How many rounds points take to escape: a count that is the same for all that are still on their way.
kernel @k(%x: array<f32, 1>, %out: array<i32, 1>, %seen: array<f32, 1>, %limit: i32) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<f32>
  %cx = load %e : f32
  %zero = const 0.0 : f32
  %none = const 0 : i32
  %zx, %zy, %rounds, %twice = while carry(%a: f32 = %zero, %b: f32 = %zero, %n: i32 = %none, %m: i32 = %none) -> (f32, f32, i32, i32) {
    %more = lt %n, %limit : bool
    %aa = mul %a, %a : f32
    %bb = mul %b, %b : f32
    %size = add %aa, %bb : f32
    %four = const 4.0 : f32
    %near = le %size, %four : bool
    %go = and %more, %near : bool
    yield %go
  } do(%a_: f32, %b_: f32, %n_: i32, %m_: i32) {
    %a2 = mul %a_, %a_ : f32
    %b2 = mul %b_, %b_ : f32
    %d = sub %a2, %b2 : f32
    %next_a = add %d, %cx : f32
    %ab = mul %a_, %b_ : f32
    %ab2 = add %ab, %ab : f32
    %next_b = add %ab2, %cx : f32
    %one = const 1 : i32
    %next_n = add %n_, %one : i32
    ; An element that all lanes read, each as often as it goes round.
    %at = elem %x, %n_ : ref<f32>
    %there = load %at : f32
    %negative = lt %there, %zero : bool
    %step = if %negative -> (i32) {
      %three = const 3 : i32
      %t = mul %m_, %three : i32
      yield %t
    } else {
      %u = add %m_, %next_n : i32
      yield %u
    }
    yield %next_a, %next_b, %next_n, %step
  }
  %o = elem %out, %i : ref<i32>
  %sum = add %rounds, %twice : i32
  store %o, %sum
  %s = elem %seen, %i : ref<f32>
  store %s, %zy
  return
}
