; Parts of dimensions: bounds that are the same for all threads and bounds of each thread's own.
kernel @k(%m: array<f32, 2>, %starts: array<i32, 1>, %n: i32, %out: array<f32, 2>) {
  %i = tid 0 : i32
  %z = const 0 : i32
  %one = const 1 : i32
  %two = const 2 : i32
  %minus = const -1 : i32
  %se = elem %starts, %i : ref<i32>
  %s = load %se : i32
  %rows = shape %m, 0 : i32
  ; From the thread's start to the end of its row, every second element.
  %own = view %m, %i, 0 : array<f32, 1>
  %rest = sub %n, %s : i32
  %more = add %rest, %one : i32
  %half = div %more, %two : i32
  %part = window %own, %s, %half, %two, 0 : array<f32, 1>
  %zero = const 0.0 : f32
  %len = shape %part, 0 : i32
  %sum = for %k: i32 = %z, %len, %one carry(%a: f32 = %zero) -> (f32) {
    %e = elem %part, %k : ref<f32>
    %v = load %e : f32
    %b = add %a, %v : f32
    yield %b
  }
  ; The whole from right to left, then the thread's element in a column of that.
  %last = sub %n, %one : i32
  %turned = window %m, %last, %n, %minus, 1 : array<f32, 2>
  %column = view %turned, %s, 1 : array<f32, 1>
  %ce = elem %column, %i : ref<f32>
  %c = load %ce : f32
  %sums = view %out, %z, 0 : array<f32, 1>
  %o = elem %sums, %i : ref<f32>
  store %o, %sum
  %below = window %out, %one, %one, %one, 0 : array<f32, 2>
  %p = elem %below, %z, %i : ref<f32>
  store %p, %c
  return
}
