//! A graph file with code for GPUs, and what the functions for C do with it on one.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use std::sync::Arc;

use inkle_graph::bundle::{CodeTarget, SaveOptions};
use inkle_graph::capture::{self, Address, Launched};
use inkle_graph::{CompiledCode, Kernel, KernelParam, KernelSource, KernelUse};
use inkle_ir::{ArrayDesc, Type};
use inkle_replay::c::*;
use inkle_runtime::{Array, CpuFunction, Device, Loaded, Stream};

const HOST: u32 = InkleMemory::Host as u32;
const DEVICE: u32 = InkleMemory::Device as u32;

/// Adds one to the first element of its array.
const PTX: &str = "
.version 7.0
.target sm_75
.address_size 64
.visible .entry add_one(.param .align 8 .b8 block[88])
{
    .reg .b64 %address;
    .reg .b32 %thread, %block, %value;
    .reg .pred %other;
    mov.u32 %thread, %tid.x;
    mov.u32 %block, %ctaid.x;
    or.b32 %thread, %thread, %block;
    setp.ne.u32 %other, %thread, 0;
    @%other ret;
    ld.param.u64 %address, [block+24];
    cvta.to.global.u64 %address, %address;
    ld.global.u32 %value, [%address];
    add.s32 %value, %value, 1;
    st.global.u32 [%address], %value;
    ret;
}
";

struct Source;

impl KernelSource for Source {
    fn ir(&self) -> String {
        String::new()
    }

    fn compile(&self, target: CodeTarget, _: &KernelUse) -> Result<CompiledCode, String> {
        match target {
            CodeTarget::Ptx { .. } => {
                Ok(CompiledCode { symbol: "add_one".into(), lanes: 1, image: PTX.as_bytes().to_vec() })
            }
            _ => Err("it is written in PTX".into()),
        }
    }
}

extern "C" fn never_run(_: *const u8, _: u64, _: u64) {}

fn add_one(array: &Array) {
    // SAFETY: it touches nothing.
    let code = Arc::new(Loaded::Cpu(unsafe { CpuFunction::from_entry(never_run, 88, 1) }));
    let params = vec![KernelParam { name: "x".into(), ty: Type::array(Type::I32, 1), offset: 24 }];
    let kernel = || {
        let kernel =
            Kernel { name: "add_one".into(), params_bytes: 88, params: params.clone(), ..Kernel::default() };
        (kernel, Some(Arc::new(Source) as Arc<dyn KernelSource>))
    };
    let ArrayDesc { data, shape, strides, .. } = array.desc();
    let mut block = vec![1 << 32 | 1, 1 << 32 | 1, 1, data, 0, shape[0] as u64, 0];
    block.extend(strides.map(|stride| stride as u64));
    let pointers = vec![Address { word: 3, array: array.clone(), reads: true, writes: true }];
    let launched = Launched {
        name: "k",
        code,
        kernel: &kernel,
        params: block,
        pointers,
        block_dim: 64,
        max_blocks: 0,
        shared_bytes: 0,
    };
    capture::launch(Device::cpu(), None, launched).unwrap();
}

/// The bytes of a file whose graph does `y = x`, `y[0] += 1`, with `x` and `y` of two `int32`.
pub fn file() -> Vec<u8> {
    let zeros = || Array::zeros(Device::cpu(), Type::I32, &[2]).unwrap();
    let (x, y) = (zeros(), zeros());
    capture::begin(Device::cpu()).unwrap();
    y.copy_from(&x, None).unwrap();
    add_one(&y);
    let graph = capture::end(Device::cpu()).unwrap();
    let options = SaveOptions {
        inputs: vec![("x".into(), x)],
        outputs: vec![("y".into(), y)],
        ..SaveOptions::default()
    };
    graph.save(&options).unwrap().to_bytes()
}

fn right(status: InkleStatus) {
    // SAFETY: the function gives a string that lives until the next failure.
    let message = unsafe { CStr::from_ptr(inkle_replay_last_error()) };
    assert_eq!(status, InkleStatus::Ok, "{message:?}");
}

fn pointer(address: u64) -> *mut c_void {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

/// Runs the graph on the GPU with host and device memory, on the default stream, on one of the caller's, and as part of a
/// capture of the caller's.
pub fn check(device: Device) {
    let file = file();
    let mut replay = null_mut();
    let (x, y) = (c"x".as_ptr(), c"y".as_ptr());
    let on_device =
        |values: [i32; 2]| Array::from_bytes(device, Type::I32, &[2], &values.map(i32::to_le_bytes).concat());
    // SAFETY: memory, streams and strings are as the functions want them, and outlive the replay.
    unsafe {
        right(inkle_replay_open_memory(file.as_ptr().cast(), file.len(), c"cuda:0".as_ptr(), &mut replay));
        let own = Stream::new(device, 0).unwrap();
        for stream in [null_mut(), pointer(own.handle())] {
            let (input, mut output) = ([40i32, 7], [0i32; 2]);
            right(inkle_replay_set_param(replay, x, input.as_ptr().cast(), 8, HOST, stream));
            right(inkle_replay_launch(replay, stream));
            right(inkle_replay_get_param(replay, y, output.as_mut_ptr().cast(), 8, HOST, stream));
            assert_eq!(output, [41, 7]);
            let (input, output) = (on_device([-1, 2]).unwrap(), on_device([0, 0]).unwrap());
            right(inkle_replay_set_param(replay, x, pointer(input.address()), 8, DEVICE, stream));
            right(inkle_replay_launch(replay, stream));
            right(inkle_replay_get_param(replay, y, pointer(output.address()), 8, DEVICE, stream));
            right(inkle_replay_synchronize(replay, stream));
            assert_eq!(output.to_bytes().unwrap(), [0i32, 2].map(i32::to_le_bytes).concat());
        }
        let bound = on_device([5, 6]).unwrap();
        right(inkle_replay_bind(replay, x, pointer(bound.address()), 8, DEVICE));
        right(inkle_replay_launch(replay, pointer(own.handle())));
        let mut output = [0i32; 2];
        right(inkle_replay_get_param(replay, y, output.as_mut_ptr().cast(), 8, HOST, pointer(own.handle())));
        assert_eq!(output, [6, 6]);
        let wrong = inkle_replay_bind(replay, x, output.as_mut_ptr().cast(), 8, HOST);
        assert_eq!(wrong, InkleStatus::Mismatch);
        inkle_replay_close(replay);
        own.synchronize().unwrap();
    }
}
