//! Bundles: what is written is read back, and damage is an error wherever it is.

#[path = "../../../fuzz/entry.rs"]
mod entry;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use entry::{Reached, seal};
use inkle_graph::bundle::{Bundle, BundleError, CodeTarget, SaveOptions, SecretKey};
use inkle_graph::capture::{self, Address, Launched};
use inkle_graph::{
    Abi, CompiledCode, Graph, GraphError, Kernel, KernelParam, KernelSource, KernelUse, RegionKind, validate,
};
use inkle_ir::{ArrayDesc, Field, Scalar, Type};
use inkle_runtime::algorithms::{Reduction, scan, sum_into};
use inkle_runtime::{Array, CpuFunction, Device, Loaded, Slice};

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array::from_bytes(Device::cpu(), Type::F32, &[values.len() as i64], &bytes).unwrap()
}

fn values(array: &Array) -> Vec<f32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

/// "Compiles" to bytes that are no code, and not for every target.
struct Pretends;

impl KernelSource for Pretends {
    fn ir(&self) -> String {
        "the text of the kernel".into()
    }

    fn compile(&self, target: CodeTarget, usage: &KernelUse) -> Result<CompiledCode, String> {
        assert_eq!(*usage, KernelUse { aligned: false, block_dim: Some(256), grid_stride: false });
        if target.is_cuda() {
            return Err("there is no GPU compiler here".into());
        }
        Ok(CompiledCode { symbol: "inkle_kernel".into(), lanes: 4, image: b"no code".to_vec() })
    }
}

unsafe extern "C" fn nothing(_: *const u8, _: u64, _: u64) {}

/// `{ tag: u8, data: array<f32> }`, then `f32`.
fn params() -> Vec<KernelParam> {
    let fields = vec![
        Field { name: "tag".into(), ty: Type::Scalar(Scalar::U8) },
        Field { name: "data".into(), ty: Type::array(Type::F32, 1) },
    ];
    vec![
        KernelParam { name: "pair".into(), ty: Type::structure("Pair", fields), offset: 24 },
        KernelParam { name: "s".into(), ty: Type::F32, offset: 96 },
    ]
}

fn record_launch(array: &Array) {
    // SAFETY: it reads nothing.
    let code = Arc::new(Loaded::Cpu(unsafe { CpuFunction::from_entry(nothing, 104, 1) }));
    let kernel = || {
        let kernel = Kernel {
            name: "pretended".into(),
            digest: [7; 32],
            options: "o2".into(),
            abi: Abi::Inkle,
            params_bytes: 104,
            params: params(),
        };
        (kernel, Some(Arc::new(Pretends) as Arc<dyn KernelSource>))
    };
    let ArrayDesc { data, shape, strides, .. } = array.desc();
    let mut params = vec![1 << 32 | 2, 1 << 32 | 1, 2, 9, data, 0, shape[0] as u64, 0];
    params.extend(strides.map(|s| s as u64));
    params.push(f32::to_bits(1.5).into());
    let pointers = vec![Address { word: 4, array: array.clone(), reads: true, writes: false }];
    let launched = Launched {
        name: "k",
        code,
        kernel: &kernel,
        params,
        pointers,
        block_dim: 256,
        max_blocks: 0,
        shared_bytes: 0,
    };
    capture::launch(Device::cpu(), None, launched).unwrap();
}

/// A graph with one of everything, and the arrays that stand for its parameters.
fn everything(with_launch: bool) -> (Graph, SaveOptions) {
    let (a, b, total) = (floats(&[1.0, 2.0, 3.0, 4.0]), floats(&[0.0; 4]), floats(&[0.0]));
    let n = Array::from_bytes(Device::cpu(), Type::I32, &[1], &1i32.to_le_bytes()).unwrap();
    capture::begin(Device::cpu()).unwrap();
    let inside = Array::zeros(Device::cpu(), Type::F32, &[4]).unwrap();
    inside.copy_from(&a, None).unwrap();
    let odd = Slice { start: Some(1), step: 2, ..Slice::ALL };
    b.slice(0, odd).unwrap().copy_from(&inside.slice(0, odd).unwrap(), None).unwrap();
    scan(&b, &inside, true).unwrap();
    sum_into(&inside, &total, Reduction { axis: None, count: None }).unwrap();
    if with_launch {
        record_launch(&a.slice(0, Slice { start: Some(1), ..Slice::ALL }).unwrap());
    }
    capture::begin_body(Device::cpu()).unwrap();
    n.fill(&0i32.to_le_bytes(), None).unwrap();
    let body = capture::end_body(Device::cpu()).unwrap();
    capture::push_while(&n, body).unwrap();
    let graph = capture::end(Device::cpu()).unwrap();
    let named = |name: &str, array: &Array| (name.to_owned(), array.clone());
    let options = SaveOptions {
        inputs: vec![named("a", &a)],
        outputs: vec![named("b", &b), named("total", &total)],
        ..SaveOptions::default()
    };
    (graph, options)
}

#[test]
fn what_is_written_is_read_back() {
    let (graph, options) = everything(true);
    let bundle = graph.save(&options).unwrap();
    assert_eq!(validate(&bundle.stream), Ok(()));
    let bytes = bundle.to_bytes();
    let back = Bundle::from_bytes(bytes.clone()).unwrap();
    assert_eq!(back, bundle);
    assert_eq!(back.to_bytes(), bytes, "one bundle has one form");
    assert_eq!(back.stream.to_string(), graph.ops().to_string());
    assert_eq!(back.ir, ["the text of the kernel"]);
    let targets: Vec<String> = back.code.iter().map(|entry| entry.target.to_string()).collect();
    assert_eq!(targets, ["x86-64-v2", "x86-64-v3", "aarch64"]);
    assert!(back.notes[0].contains("compute_75: there is no GPU compiler here"), "{:?}", back.notes);
}

#[test]
fn extents_that_are_too_large_for_their_number_count_as_the_largest_one() {
    let (graph, options) = everything(true);
    let mut bundle = graph.save(&options).unwrap();
    let launch = bundle.stream.body.iter_mut().find_map(|node| match &mut node.op {
        inkle_graph::Op::Launch(launch) => Some(launch),
        _ => None,
    });
    let params = &mut launch.unwrap().params;
    (params[0], params[1], params[2]) = (1 << 32 | 0xffff_ffff, 1 << 32 | 1, 1 << 33);
    assert_eq!(Bundle::from_bytes(bundle.to_bytes()).unwrap().stream, bundle.stream);
}

#[test]
fn a_loaded_graph_runs_on_memory_of_its_own() {
    let (graph, options) = everything(false);
    let bytes = graph.save(&options).unwrap().to_bytes();
    let loaded = Bundle::from_bytes(bytes).unwrap().load(Device::cpu(), None).unwrap();
    let read = |name: &str, count: i64| {
        let array = Array::zeros(Device::cpu(), Type::F32, &[count]).unwrap();
        loaded.read(name, &loaded.param(name).unwrap().view, &array, None).unwrap();
        values(&array)
    };
    loaded.write("a", &loaded.param("a").unwrap().view, &floats(&[5.0, 6.0, 7.0, 8.0]), None).unwrap();
    loaded.launch(None).unwrap();
    assert_eq!((read("b", 4), read("total", 1)), (vec![0.0, 6.0, 0.0, 8.0], vec![0.0 + 6.0 + 6.0 + 14.0]));
    assert_eq!(values(&options.inputs[0].1), [1.0, 2.0, 3.0, 4.0]);
    assert!(matches!(loaded.param("c"), Err(GraphError::NoSuchParam { .. })));
}

#[test]
fn memory_that_is_written_before_it_is_read_is_not_in_the_file() {
    let (graph, options) = everything(false);
    graph.launch(None).unwrap();
    let bundle = graph.save(&options).unwrap();
    let internal =
        bundle.stream.regions.iter().zip(&bundle.memory).filter(|(r, _)| r.kind == RegionKind::Internal);
    assert_eq!(internal.map(|(_, contents)| contents.is_some()).collect::<Vec<_>>(), [false]);
}

#[test]
fn a_named_target_must_compile() {
    let (graph, mut options) = everything(true);
    options.targets = vec![CodeTarget::Cubin { arch: 90 }];
    let error = graph.save(&options).unwrap_err();
    assert!(
        matches!(&error, GraphError::Bundle(BundleError::Compile { target, .. }) if target == "sm_90"),
        "{error}"
    );
}

#[test]
fn every_changed_byte_is_noticed() {
    let (graph, options) = everything(true);
    let bytes = graph.save(&options).unwrap().to_bytes();
    for place in 0..bytes.len() {
        for bit in [0, 7] {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << bit;
            assert!(Bundle::from_bytes(damaged).is_err(), "byte {place}, bit {bit}");
        }
    }
    for length in 0..bytes.len() {
        assert!(Bundle::from_bytes(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
}

#[test]
fn a_signed_file_names_its_signer_and_notices_every_changed_byte() {
    let (graph, options) = everything(true);
    let bundle = graph.save(&options).unwrap();
    let (key, other) = (SecretKey::from_seed(&[7; 32]), SecretKey::from_seed(&[8; 32]));
    let bytes = bundle.to_signed_bytes(&key);
    let back = Bundle::from_bytes(bytes.clone()).unwrap();
    assert_eq!(back.require_signer(&key.public()), Ok(()));
    assert_eq!(back.to_signed_bytes(&key), bytes, "signing is deterministic and replaces a signature");
    assert_eq!(back.to_bytes(), bundle.to_bytes());
    for (bundle, found) in [(&back, Some(key.public().to_string())), (&bundle, None)] {
        let expected = other.public().to_string();
        let refused = bundle.require_signer(&other.public());
        assert_eq!(refused, Err(BundleError::Signer { expected, found }));
    }
    for place in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 0x40;
        assert!(Bundle::from_bytes(damaged).is_err(), "byte {place}");
    }
    for length in bytes.len() - 200..bytes.len() {
        assert!(Bundle::from_bytes(bytes[..length].to_vec()).is_err(), "{length} bytes");
    }
}

#[test]
fn whoever_changes_a_signed_file_cannot_make_its_signature_right() {
    let (graph, options) = everything(true);
    let bundle = graph.save(&options).unwrap();
    let (key, other) = (SecretKey::from_seed(&[7; 32]), SecretKey::from_seed(&[8; 32]));
    let mut changed = bundle.clone();
    changed.producer = "somebody".into();
    let (signed, forged) = (bundle.to_signed_bytes(&key), changed.to_signed_bytes(&other));
    // The signature of another file; the key of somebody else under their signature.
    let (mut moved, mut claimed) = (forged.clone(), forged.clone());
    let (at, moved_at) = (signed.len() - 96, moved.len() - 96);
    moved[moved_at..].copy_from_slice(&signed[at..]);
    claimed[moved_at..moved_at + 32].copy_from_slice(&key.public().to_bytes());
    for bytes in [moved, claimed] {
        let refused = Bundle::from_bytes(bytes);
        assert!(matches!(refused, Err(BundleError::Damaged { part: "signature", .. })), "{refused:?}");
    }
    // Digests that are made right again do not help.
    let mut resealed = signed.clone();
    let place = resealed.windows(5).position(|w| w == b"inkle").unwrap();
    resealed[place] = b'l';
    seal(&mut resealed);
    let refused = Bundle::from_bytes(resealed);
    assert!(matches!(refused, Err(BundleError::Damaged { part: "signature", .. })), "{refused:?}");
    // Taking the signature off gives a file that nobody signed.
    let unsigned = Bundle::from_bytes(bundle.to_bytes()).unwrap();
    assert!(unsigned.require_signer(&key.public()).is_err());
}

/// Whoever can write a file can write its digests; then whatever it says is checked, or harmless.
#[test]
fn damage_under_right_digests_never_panics() {
    let mut reached = BTreeMap::new();
    for with_launch in [true, false] {
        let (graph, options) = everything(with_launch);
        let mut bundle = graph.save(&options).unwrap();
        bundle.ir.clear();
        let bytes = bundle.to_bytes();
        for place in 8..bytes.len() {
            for value in [0u8, 1, 2, 0x7f, 0x80, 0xff] {
                let mut damaged = bytes.clone();
                damaged[place] = value;
                *reached.entry(entry::bundle(&damaged)).or_insert(0) += 1;
            }
        }
    }
    // The code of the launch is none, so nothing with a launch can be loaded.
    for far in [Reached::Refused, Reached::Read, Reached::Loaded] {
        assert!(reached[&far] > 1000, "{reached:?}");
    }
}

/// Files that the fuzzer found to go new ways; those that once failed are among them.
#[test]
fn the_corpus_of_the_fuzzer_never_panics() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let bundles = entry::corpus(&folder.join("bundle"));
    let far = bundles.iter().filter(|(_, bytes)| entry::bundle(bytes) >= Reached::Read).count();
    assert!(bundles.len() > 50 && far > 20, "{far} of {} bundles are read", bundles.len());
    let objects = entry::corpus(&folder.join("object"));
    objects.iter().for_each(|(_, bytes)| {
        entry::object(bytes);
    });
    assert!(objects.len() > 20, "{} objects", objects.len());
}

#[test]
fn streams_that_reach_out_of_their_memory_are_refused() {
    let (graph, options) = everything(true);
    let bundle = graph.save(&options).unwrap();
    let change = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = bundle.clone();
        change(&mut bundle);
        Bundle::from_bytes(bundle.to_bytes()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    use inkle_graph::Op;
    let launch_at = bundle.stream.body.iter().position(|n| matches!(n.op, Op::Launch(_))).unwrap();
    let launch = |change_it: &dyn Fn(&mut inkle_graph::Launch)| {
        change(&|bundle| {
            if let Op::Launch(launch) = &mut bundle.stream.body[launch_at].op {
                change_it(launch);
            }
        })
    };
    for (said, wanted) in [
        (launch(&|l| l.params[6] = 400), "reaches out of region"),
        (launch(&|l| l.params[8] = 1 << 40), "reaches out of region"),
        (launch(&|l| l.params[4] = 0x1000), "not the graph's"),
        (launch(&|l| l.pointers[0].word = 3), "no parameter has one"),
        (launch(&|l| l.pointers[0].region = 99), "no region 99"),
        (launch(&|l| l.kernel = 5), "no kernel 5"),
        (launch(&|l| l.params[2] = 1 << 40), "threads"),
        (launch(&|l| l.params[..2].fill(0x7fff_ffff_7fff_ffff)), "threads"),
        (launch(&|l| (l.params[0], l.params[2]) = (1 << 32 | 0x7fff_ffff, 1)), "threads"),
        (launch(&|l| l.params = vec![0; 3].into()), "24 bytes instead of 104"),
        (change(&|b| b.stream.regions[1].bytes = 8), "region"),
        (change(&|b| b.params[0].view.shape[0] = 5), "reaches out"),
        (change(&|b| b.params[1].name = "a".into()), "two parameters"),
        (
            change(&|b| b.stream.body.push(inkle_graph::Node { queue: 0, op: Op::Wait { event: 0 } })),
            "event 0",
        ),
        (change(&|b| b.code[0].kernel = 3), "code of kernel 3"),
    ] {
        assert!(said.contains(wanted), "{said:?} instead of {wanted:?}");
    }
}
