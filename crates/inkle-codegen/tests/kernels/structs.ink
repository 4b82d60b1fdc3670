; Structs with padding, nested, with an array inside; fields by address; matrices by dynamic index.
struct Inner { flag: bool, v: vec<2, f64> }
struct Outer { a: f32, in: struct Inner, data: array<f32, 1>, m: mat<3x3, f32> }

func @pick(%o: struct Outer, %k: i32) -> (f32, struct Inner) {
  %m = extract %o, 3 : mat<3x3, f32>
  %x = extract_dyn %m, %k : f32
  %d = extract %o, 2 : array<f32, 1>
  %n = shape %d, 0 : i32
  %at = rem %k, %n : i32
  %e = elem %d, %at : ref<f32>
  %y = load %e : f32
  %s = add %x, %y : f32
  %in = extract %o, 1 : struct Inner
  %v = extract %in, 1 : vec<2, f64>
  %z = cast %s : f64
  %v2 = insert_dyn %v, %z, %k : vec<2, f64>
  %in2 = insert %in, %v2, 1 : struct Inner
  return %s, %in2
}

kernel @k(%os: array<struct Inner, 1>, %o: struct Outer, %ks: array<i32, 1>, %out: array<f32, 1>) {
  %i = tid 0 : i32
  %ke = elem %ks, %i : ref<i32>
  %k0 = load %ke : i32
  %nine = const 9 : i32
  %seven = const 7 : i32
  %k1 = and %k0, %seven : i32
  %s, %in = call @pick(%o, %k1) : f32, struct Inner
  %ie = elem %os, %i : ref<struct Inner>
  %v = field %ie, 1 : ref<vec<2, f64>>
  %old = load %v : vec<2, f64>
  %nv = extract %in, 1 : vec<2, f64>
  %sum = add %old, %nv : vec<2, f64>
  store %v, %sum
  %fl = field %ie, 0 : ref<bool>
  %f = load %fl : bool
  %nf = not %f : bool
  store %fl, %nf
  %one = const 1 : i32
  %c = and %k1, %one : i32
  %ce = comp %v, %c : ref<f64>
  %cv = load %ce : f64
  %c32 = cast %cv : f32
  %oe = elem %out, %i : ref<f32>
  %r = add %s, %c32 : f32
  store %oe, %r
  return
}
