//! A graph file without kernels, for tests that need no compiler.

use inkle_graph::bundle::{Bundle, SaveOptions, SecretKey};
use inkle_graph::capture;
use inkle_ir::{Scalar, Type};
use inkle_runtime::algorithms::{Reduction, sum_into};
use inkle_runtime::{Array, Device, Slice};

fn array(dtype: Type, shape: &[i64], bytes: &[u8]) -> Array {
    Array::from_bytes(Device::cpu(), dtype, shape, bytes).unwrap()
}

/// The bytes of a file whose graph does `total = sum(a)`, `points = other[::-1]`, `half = a[::2]`. All inputs are
/// zero, and `half` is every other element of an array of four.
pub fn file() -> Vec<u8> {
    let a = array(Type::F32, &[4], &[0; 16]);
    let total = array(Type::F32, &[1], &[0; 4]);
    let point = Type::vec(3, Scalar::F32);
    let (other, points) = (array(point, &[2], &[0; 24]), array(point, &[2], &[0; 24]));
    let wide = array(Type::F32, &[4], &[0; 16]);
    let step = |step| Slice { step, ..Slice::ALL };
    let half = wide.slice(0, step(2)).unwrap();
    capture::begin(Device::cpu()).unwrap();
    sum_into(&a, &total, Reduction { axis: None, count: None }).unwrap();
    points.copy_from(&other.slice(0, step(-1)).unwrap(), None).unwrap();
    half.copy_from(&a.slice(0, step(2)).unwrap(), None).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    let named = |name: &str, array: &Array| (name.to_owned(), array.clone());
    let options = SaveOptions {
        inputs: vec![named("a", &a), named("other", &other)],
        outputs: vec![named("total", &total), named("points", &points), named("half", &half)],
        ..SaveOptions::default()
    };
    graph.save(&options).unwrap().to_bytes()
}

/// The same file, signed, and the bytes of the public key.
#[allow(dead_code, reason = "not every test signs")]
pub fn signed_file() -> (Vec<u8>, [u8; 32]) {
    let key = SecretKey::from_seed(&[3; 32]);
    let bundle = Bundle::from_bytes(file()).unwrap();
    (bundle.to_signed_bytes(&key), key.public().to_bytes())
}
