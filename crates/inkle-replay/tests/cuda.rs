//! The functions for C on a real GPU.

#[path = "common/gpu.rs"]
mod gpu;
#[path = "../../inkle-graph/tests/support/warp.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod warp;

use inkle_replay::Replay;

use inkle_runtime::{Device, cuda_status};

#[test]
fn a_graph_runs_on_the_caller_s_streams_and_memory() {
    match cuda_status() {
        Ok(()) => gpu::check(Device::cuda(0).unwrap()),
        Err(error) => println!("skipped: no CUDA driver ({error})"),
    }
}

/// What Warp's compiler makes of `y[i] = a * x[i]`, in short: bounds, then the arguments, each a parameter.
const SCALE: &str = r"
.version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .align 8 .b8 bounds[24], .param .align 8 .b8 x[56], .param .f32 a, .param .align 8 .b8 y[56])
{
    .reg .pred %p<2>;
    .reg .b32 %r<6>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<7>;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r1, %r2, %r3;
    ld.param.u32 %r5, [bounds];
    setp.ge.u32 %p1, %r4, %r5;
    @%p1 bra done;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.f32 %f1, [a];
    mul.wide.u32 %rd3, %r4, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.f32 %f2, [%rd4];
    mul.f32 %f3, %f1, %f2;
    st.f32 [%rd5], %f3;
done:
    ret;
}
";

#[test]
fn a_file_of_warp_s_runs() {
    let device = match cuda_status() {
        Ok(()) => Device::cuda(0).unwrap(),
        Err(error) => return println!("skipped: no CUDA driver ({error})"),
    };
    let mut file = warp::WarpFile::new(18);
    file.code = SCALE.as_bytes().to_vec();
    file.kernels = vec!["scale"];
    file.params = vec![("x", 1), ("y", 2)];
    let x: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let bytes = |values: &[f32]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    file.regions = vec![(1, bytes(&x)), (2, vec![0; 400])];
    let spread = warp::Spread { block_dim: 32, ..warp::Spread::over(96) };
    let arguments =
        [warp::Argument::array(1, 16, 96), warp::Argument::f32(2.5), warp::Argument::array(2, 0, 96)];
    file.operations = vec![warp::set_bytes(2, 0, 400, 0), warp::launch("scale", spread, &arguments)];
    let code = |_: &str| Ok(file.code.clone());
    let replay = Replay::from_bytes_and_code(file.bytes(), &code, device).unwrap();
    replay.launch(None).unwrap();
    let expected: Vec<f32> = (0..100).map(|i| if i < 96 { 2.5 * (i + 4) as f32 } else { 0.0 }).collect();
    assert_eq!(replay.get_bytes("y", None).unwrap(), bytes(&expected));
    replay.set_bytes("x", &bytes(&[-1.0; 100]), None).unwrap();
    replay.launch(None).unwrap();
    assert_eq!(replay.get_bytes("y", None).unwrap()[..384], bytes(&[-2.5; 96]));
}
