//! Files of Warp's: what they become, what of them is refused, and that no damage does more than that.

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
    assert!(of(warp::operation(9, &[])).contains("has array_scan() in it"));
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
fn there_is_no_code_for_a_cpu() {
    let error = read(&sample(18)).unwrap().load(Device::cpu(), None).unwrap_err().to_string();
    assert!(error.contains("no code of kernel `scale` for this CPU; it has code for compute_75"), "{error}");
}

#[test]
fn damage_is_an_error_or_another_file() {
    let file = sample(18);
    let bytes = file.bytes();
    let find = |_: &str| Ok(file.code.clone());
    for place in 0..bytes.len() {
        for flip in [1, 0x80, 0xFF] {
            let mut damaged = bytes.clone();
            damaged[place] ^= flip;
            if let Ok(bundle) = Bundle::from_bytes_and_code(damaged, &find) {
                inkle_graph::validate(&bundle.stream).unwrap();
            }
        }
    }
    for length in 0..bytes.len() {
        assert!(Bundle::from_bytes_and_code(bytes[..length].to_vec(), &find).is_err(), "{length} bytes");
    }
}
