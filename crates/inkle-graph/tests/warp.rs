//! Files of Warp's: what they become, what of them is refused, and that no damage does more than that.

#[path = "../../../fuzz/entry.rs"]
#[expect(dead_code, reason = "the fuzzer's entry has more than files of Warp's need")]
mod entry;
#[path = "support/warp.rs"]
mod warp;

use inkle_graph::bundle::{Bundle, BundleError, CodeTarget};
use inkle_graph::{Abi, Op};
use inkle_runtime::Device;
use warp::{Argument, CODE_FILE, Spread, WarpFile};

fn read(file: &WarpFile) -> Result<Bundle, BundleError> {
    Bundle::from_bytes_and_code(file.bytes(), &|name| {
        if name == CODE_FILE { Ok(file.code.clone()) } else { Err("no such file".into()) }
    })
}

fn sample(version: u32) -> WarpFile {
    let mut file = WarpFile::new(version);
    file.kernels = vec!["scale", "step"];
    file.params = vec![("x", 7), ("y", 9), ("y", 9)];
    file.regions = vec![(7, vec![1; 400]), (9, vec![0; 400]), (3, 2i32.to_le_bytes().to_vec())];
    let arguments = [Argument::array(7, 40, 10), Argument::f32(2.0), Argument::array(9, 0, 10)];
    let body = [warp::launch("step", Spread::over(1), &[Argument::array(3, 0, 1)])];
    let other = [warp::set_bytes(9, 8, 16, 0xFF)];
    file.operations = vec![
        warp::operation(6, &[0; 16]),
        warp::launch("scale", Spread::over(10), &arguments),
        warp::copy((9, 100), (7, 0), 12),
        warp::copy_in(9, 200, &[1, 2, 3, 4]),
        warp::fill(9, 240, 3, &[1, 2, 3, 4, 5, 6]),
        warp::condition(true, 3, &body, &[]),
        warp::condition(false, 3, &body, &other),
    ];
    file
}

#[test]
fn operations_become_those_of_a_stream() {
    for version in [15, 16, 18] {
        let bundle = read(&sample(version)).unwrap();
        assert_eq!(
            bundle
                .stream
                .to_string()
                .lines()
                .skip_while(|line| !line.starts_with("launch"))
                .collect::<Vec<_>>(),
            [
                "launch k0 [1]",
                "copy r1+100 u8 [12] from r0+0",
                "copy r1+200 u8 [4] from r3+0",
                "fill r1+240 vec<6, u8> [3] with 010203040506",
                "while r2+0 {",
                "    launch k1 [1]",
                "}",
                "if r2+0 {",
                "    launch k1 [1]",
                "} else {",
                "    fill r1+8 u8 [16] with ff",
                "}",
            ],
            "version {version}"
        );
        let names: Vec<_> = bundle.params.iter().map(|p| (&*p.name, p.view.region, &*p.view.shape)).collect();
        assert_eq!(names, [("x", 0, &[400][..]), ("y", 1, &[400][..])]);
        assert_eq!(bundle.memory[3].as_ref().unwrap().bytes(), [1, 2, 3, 4]);
        let code: Vec<_> = bundle.code.iter().map(|c| (c.kernel, c.target, &*c.symbol)).collect();
        let target = CodeTarget::Ptx { arch: 75 };
        assert_eq!(code, [(0, target, "scale"), (1, target, "step")]);
        assert!(bundle.stream.kernels.iter().all(|kernel| kernel.abi == Abi::Cuda));
        // What was read can be written in inkle's own format.
        let back = Bundle::from_bytes(bundle.to_bytes()).unwrap();
        assert_eq!(back, bundle);
    }
}

#[test]
fn arguments_lie_where_cuda_expects_them() {
    let bundle = read(&sample(16)).unwrap();
    let Op::Launch(launch) = &bundle.stream.body[0].op else { panic!("a launch comes first") };
    // The grid; then what the code gets: bounds of one dimension, an array, a number and, at a multiple of 8, an array.
    assert_eq!(launch.params[..3], [1 | 1 << 32, 1 | 1 << 32, 1]);
    assert_eq!(launch.params[3..6], [10, 10, 1]);
    assert_eq!(launch.params[6..9], [0, 0, 10]);
    assert_eq!(launch.params[13], u64::from(2f32.to_bits()));
    assert_eq!(launch.params[14..17], [0, 0, 10]);
    assert_eq!(bundle.stream.kernels[0].params_bytes, 24 + 24 + 56 + 8 + 56);
    let pointers: Vec<_> =
        launch.pointers.iter().map(|p| (p.word, p.region, p.offset, p.span.clone())).collect();
    assert_eq!(pointers, [(6, 0, 40, 0..400), (14, 1, 0, 0..400)]);
}

#[test]
fn grids_are_those_of_warp() {
    let grid = |spread: Spread| {
        let mut file = sample(16);
        file.operations = vec![warp::launch("step", spread, &[Argument::array(3, 0, 1)])];
        let bundle = read(&file).unwrap();
        let Op::Launch(launch) = &bundle.stream.body[0].op else { panic!("a launch") };
        (launch.dims(), launch.block_dim)
    };
    assert_eq!(grid(Spread { block_dim: 64, ..Spread::over(1000) }), ([16, 1, 1, 1], 64));
    let looping = Spread { block_dim: 64, max_blocks: 4, loops: true, ..Spread::over(1000) };
    assert_eq!(grid(looping), ([4, 1, 1, 1], 64));
    // 2^24 threads along the first dimension, then along the second.
    assert_eq!(grid(Spread::over(3 << 24)), ([1 << 16, 3, 1, 1], 256));
    assert_eq!(grid(Spread { block_dim: 0, ..Spread::over(256) }), ([1, 1, 1, 1], 256));
}

#[test]
fn what_is_not_read_is_named() {
    let with = |change: &dyn Fn(&mut WarpFile)| {
        let mut file = sample(18);
        change(&mut file);
        read(&file).unwrap_err().to_string()
    };
    let of = |operation: Vec<u8>| with(&|file| file.operations.push(operation.clone()));
    assert!(of(warp::operation(14, &[])).contains("does not read in it: the building of a sparse matrix"));
    assert!(of(warp::operation(18, &[])).contains("the rebuilding of a BVH"));
    assert!(of(warp::operation(99, &[])).contains("an operation of a newer Warp"));
    let clusters = Spread { cluster: 2, ..Spread::over(512) };
    assert!(of(warp::launch("step", clusters, &[])).contains("a launch of `step` in clusters"));
    assert!(with(&|file| file.meshes = 1).contains("a mesh"));
    assert!(with(&|file| file.device = 1).contains("code for the CPU"));
    let version = with(&|file| file.version = 17);
    assert!(version.contains("version 17") && version.contains("18 (Warp 1.19)"), "{version}");
    let launch = |arguments: &[Argument]| of(warp::launch("step", Spread::over(1), arguments));
    assert!(launch(&[Argument::array(4, 0, 1)]).contains("there is no region 4"));
    assert!(launch(&[Argument::array(3, 8, 1)]).contains("reaches out of its region"));
    assert!(of(warp::launch("jump", Spread::over(1), &[])).contains("kernel `jump` is missing"));
    assert!(of(warp::copy((9, 390), (7, 0), 12)).contains("bytes from 390 on reach out of region 1"));
}

#[test]
fn code_comes_from_beside_the_file_and_is_what_the_file_says() {
    let file = sample(18);
    let why = |find: &dyn Fn(&str) -> Result<Vec<u8>, String>| {
        Bundle::from_bytes_and_code(file.bytes(), find).unwrap_err().to_string()
    };
    assert!(why(&|_| Err("no such file".into())).contains(&format!("the code `{CODE_FILE}`")));
    assert!(why(&|_| Ok(b"// other PTX".to_vec())).contains("its digest is another"));
    let folder = std::env::temp_dir().join(format!("inkle-warp-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("graph_modules")).unwrap();
    std::fs::write(folder.join("graph_modules").join(CODE_FILE), &file.code).unwrap();
    let find = inkle_graph::bundle::code_beside(&folder.join("graph.wrp"));
    assert_eq!(find(CODE_FILE), Ok(file.code.clone()));
    assert!(find("other.ptx").unwrap_err().contains("other.ptx"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn code_is_for_targets_that_there_are() {
    let with = |arch: u32| {
        let mut file = sample(18);
        file.arch = arch;
        read(&file).map(|bundle| bundle.code[0].target).map_err(|error| error.to_string())
    };
    assert_eq!(with(90), Ok(CodeTarget::Ptx { arch: 90 }));
    // Text for an older GPU runs on those that there are.
    assert_eq!(with(70), Ok(CodeTarget::Ptx { arch: 75 }));
    assert!(with(1 << 31).unwrap_err().contains("does not read in it: code for compute_2147483648"));
}

#[test]
fn there_is_no_code_for_a_cpu() {
    let error = read(&sample(18)).unwrap().load(Device::cpu(), None).unwrap_err().to_string();
    assert!(error.contains("no code of kernel `scale` for this CPU; it has code for compute_75"), "{error}");
}

fn ints(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

/// A file without kernels that has every algorithm.
fn algorithms() -> WarpFile {
    let mut file = WarpFile::new(18);
    let numbers = [3, 1, 4, 1, 5, 9, 2, 6];
    file.regions = vec![
        (1, ints(&numbers)),
        (2, vec![0; 32]),
        // Keys and values of sorts have room for twice as many.
        (3, ints(&[5, -1, 3, 0, 0, 0, 0])),
        (4, [10i64, 20, 30, 0, 0, 0].iter().flat_map(|value| value.to_le_bytes()).collect()),
        (5, ints(&[2, 1, 4, 3, 0, 0, 0, 0])),
        (6, ints(&[0, 1, 2, 3, 0, 0, 0, 0])),
        (7, ints(&[0, 2, 4])),
        (8, ints(&[7, 7, 8, 7])),
        (9, vec![0; 36]),
        (10, floats(&[1.0, 2.0, 3.0, 4.0])),
        (11, vec![0; 16]),
    ];
    file.params = vec![("sums", 2)];
    file.operations = vec![
        // Every other number; the sums of pairs of them.
        warp::scan((2, 0), (1, 0), 4, [8, 4], 1, 1),
        warp::scan((2, 16), (1, 0), 2, [8, 8], 2, 1),
        warp::sort((3, 0), (4, 0), 3, 8, 1),
        // As Warp saves it when its sort ended in the second half of the room.
        warp::copy((3, 0), (3, 12), 12),
        warp::sort_segments([(5, 0), (6, 0), (7, 0), (7, 4)], 4, 2),
        warp::run_lengths([(8, 0), (9, 0), (9, 16), (9, 32)], 4),
        warp::reduction((10, 0), None, (11, 0), 2, 2, 5),
        warp::reduction((10, 0), Some((10, 8)), (11, 8), 2, 1, 5),
    ];
    // A key more than the sort of three needs, to see that it stays.
    file.regions[2].1[24] = 99;
    file
}

#[test]
fn algorithms_are_those_of_the_runtime() {
    let bundle = read(&algorithms()).unwrap();
    let text = bundle.stream.to_string();
    let listed: Vec<&str> = text.lines().skip_while(|line| line.starts_with('r')).collect();
    assert_eq!(
        listed,
        [
            "array_scan r0+0 i32 [4] strides [8] to r1+0 i32 [4] inclusive",
            "array_scan r0+0 vec<2, i32> [2] to r1+16 vec<2, i32> [2] inclusive",
            "radix_sort_pairs to r2+0 i32 [6] to r3+0 i64 [6] count=3 bits=0..32",
            "copy r2+12 i32 [3] from r2+0",
            "copy r3+24 i64 [3] from r3+0",
            "copy r2+0 u8 [12] from r2+12",
            "segmented_sort_pairs to r4+0 i32 [8] to r5+0 i32 [8] r6+0 i32 [2] r6+4 i32 [2] count=4",
            "copy r4+16 i32 [4] from r4+0",
            "copy r5+16 i32 [4] from r5+0",
            "runlength_encode r7+0 i32 [4] to r8+0 i32 [4] to r8+16 i32 [4] to r8+32 i32 [1] count=4",
            "array_sum r9+0 vec<2, f32> [2] to r10+0 vec<2, f32> [1]",
            "array_inner r9+0 f32 [2] r9+8 f32 [2] to r10+8 f32 [1]",
        ]
    );
    assert_eq!(Bundle::from_bytes(bundle.to_bytes()).unwrap(), bundle);
    // Without kernels such a file runs on a CPU too.
    let graph = bundle.load(Device::cpu(), None).unwrap();
    graph.launch(None).unwrap();
    let region = |index: usize| graph.memory()[index].memory.contents().unwrap();
    assert_eq!(region(1), ints(&[3, 7, 12, 14, 3, 1, 7, 2]));
    assert_eq!(region(2)[..12], ints(&[-1, 3, 5]));
    assert_eq!(region(2)[24..], ints(&[99]));
    assert_eq!([0, 8, 16].map(|at| region(3)[at]), [20, 30, 10]);
    assert_eq!(region(4)[..16], ints(&[1, 2, 3, 4]));
    assert_eq!(region(5)[..16], ints(&[1, 0, 3, 2]));
    assert_eq!(region(8), ints(&[7, 8, 7, 0, 2, 1, 1, 0, 3]));
    assert_eq!(region(10), floats(&[4.0, 6.0, 11.0, 0.0]));
}

#[test]
fn algorithms_that_cannot_be_are_refused() {
    let with = |version: u32, operation: Vec<u8>| {
        let mut file = algorithms();
        (file.version, file.operations) = (version, vec![operation]);
        read(&file).unwrap_err().to_string()
    };
    let scan = |count, lanes, ty| warp::scan((2, 0), (1, 0), count, [4, 4], lanes, ty);
    let old = with(16, scan(1, 1, 1));
    assert!(old.contains("does not read in it: array_scan(), as versions before 18 store it"), "{old}");
    assert!(with(18, scan(9, 1, 1)).contains("reaches out of region 0"));
    assert!(with(18, scan(u32::MAX, 1, 1)).contains("an algorithm over 4294967295 elements"));
    assert!(with(18, scan(1, 0, 1)).contains("elements of 0 numbers"));
    assert!(with(18, scan(1, u32::MAX, 1)).contains("elements of 4294967295 numbers"));
    assert!(with(18, scan(1, 1, 7)).contains("no type of numbers has the tag 7"));
    assert!(with(18, warp::sort((3, 0), (4, 0), 1, 2, 1)).contains("a sort of values of 2 bytes"));
    assert!(with(18, warp::sort((3, 0), (4, 0), 1 << 31, 4, 1)).contains("a sort of 2147483648 pairs"));
    assert!(with(18, warp::sort((30, 0), (4, 0), 1, 4, 1)).contains("there is no region 30"));
    assert!(with(18, warp::operation(16, &[0; 20])).contains("bytes are missing"));
}

#[test]
fn damage_is_an_error_or_another_file() {
    damaged(&sample(18));
    // Algorithms run on a CPU, whatever they are given.
    let file = algorithms();
    damaged(&file);
    assert_eq!(entry::bundle(&file.bytes()), entry::Reached::Run);
}

fn damaged(file: &WarpFile) {
    let bytes = file.bytes();
    let find = |_: &str| Ok(file.code.clone());
    for place in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            if let Ok(bundle) = Bundle::from_bytes_and_code(damaged.clone(), &find) {
                inkle_graph::validate(&bundle.stream).unwrap();
            }
            entry::bundle(&damaged);
        }
    }
    for length in 0..bytes.len() {
        assert!(Bundle::from_bytes_and_code(bytes[..length].to_vec(), &find).is_err(), "{length} bytes");
    }
}
