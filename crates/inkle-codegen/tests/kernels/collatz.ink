; A while loop that every thread leaves at its own time, with a load inside and a uniform counter.
kernel @k(%x: array<i32, 1>, %y: array<i32, 1>, %n: i32) {
  %i = tid 0 : i32
  %e = elem %x, %i : ref<i32>
  %v0 = load %e : i32
  %m = const 1023 : i32
  %one = const 1 : i32
  %two = const 2 : i32
  %three = const 3 : i32
  %limit = const 50 : i32
  %zero = const 0 : i32
  %v1 = and %v0, %m : i32
  %v = add %v1, %one : i32
  %steps, %last, %seen = while carry(%c: i32 = %zero, %w: i32 = %v, %acc: i32 = %zero) -> (i32, i32, i32) {
    %more = ne %w, %one : bool
    %few = lt %c, %limit : bool
    %go = and %more, %few : bool
    yield %go
  } do(%c_: i32, %w_: i32, %acc_: i32) {
    %odd = and %w_, %one : i32
    %is_odd = ne %odd, %zero : bool
    %next = if %is_odd -> (i32) {
      %t = mul %w_, %three : i32
      %t1 = add %t, %one : i32
      yield %t1
    } else {
      %h = div %w_, %two : i32
      yield %h
    }
    %at = rem %c_, %n : i32
    %el = elem %x, %at : ref<i32>
    %xv = load %el : i32
    %acc2 = add %acc_, %xv : i32
    %c2 = add %c_, %one : i32
    yield %c2, %next, %acc2
  }
  %o = elem %y, %i : ref<i32>
  %s = mul %steps, %limit : i32
  %s2 = add %s, %last : i32
  %s3 = xor %s2, %seen : i32
  store %o, %s3
  return
}
