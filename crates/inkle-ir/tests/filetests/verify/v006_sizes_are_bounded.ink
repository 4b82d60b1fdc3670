;; test verify

struct A { a: mat<256x256, f64>, b: mat<256x256, f64> }
struct B { a0: struct A, a1: struct A, a2: struct A, a3: struct A, a4: struct A, a5: struct A, a6: struct A, a7: struct A, a8: struct A, a9: struct A, a10: struct A, a11: struct A, a12: struct A, a13: struct A, a14: struct A, a15: struct A, a16: struct A, a17: struct A, a18: struct A, a19: struct A, a20: struct A, a21: struct A, a22: struct A, a23: struct A, a24: struct A, a25: struct A, a26: struct A, a27: struct A, a28: struct A, a29: struct A, a30: struct A, a31: struct A }
struct C { a0: struct B, a1: struct B, a2: struct B, a3: struct B, a4: struct B, a5: struct B, a6: struct B, a7: struct B, a8: struct B, a9: struct B, a10: struct B, a11: struct B, a12: struct B, a13: struct B, a14: struct B, a15: struct B, a16: struct B, a17: struct B, a18: struct B, a19: struct B, a20: struct B, a21: struct B, a22: struct B, a23: struct B, a24: struct B, a25: struct B, a26: struct B, a27: struct B, a28: struct B, a29: struct B, a30: struct B, a31: struct B, a32: struct B, a33: struct B, a34: struct B, a35: struct B, a36: struct B, a37: struct B, a38: struct B, a39: struct B }
kernel @k(%a: struct C) {

  return
}

;; expect:
; V006: @k: struct C takes more than 1073741824 bytes
