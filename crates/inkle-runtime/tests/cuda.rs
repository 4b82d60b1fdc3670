//! The CUDA side on a real GPU. Without a driver each test says that it was skipped and the last line counts
//! them; nothing here passes by not running unnoticed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use inkle_ir::{ArrayDesc, LaunchBounds, ParamLayout, Scalar, Type};
use inkle_runtime::{
    Allocation, Array, CudaFunction, CudaModule, Device, ErrorClass, Event, Index, LaunchConfig, MemoryKind,
    RuntimeError, Slice, Stream, cuda_device_count, cuda_driver_version, cuda_status, device, devices,
};

static SKIPPED: AtomicUsize = AtomicUsize::new(0);

/// The first GPU, or a note that the test was skipped.
fn gpu() -> Option<Device> {
    match cuda_status() {
        Ok(()) => Some(device("cuda:0").unwrap()),
        Err(error) => {
            assert!(matches!(error, RuntimeError::NoCudaDriver { .. }), "{error}");
            assert_eq!(error.class(), ErrorClass::Unavailable);
            let count = SKIPPED.fetch_add(1, Ordering::Relaxed) + 1;
            println!("skipped: no CUDA driver ({error}); {count} so far");
            None
        }
    }
}

macro_rules! gpu_or_return {
    () => {
        match gpu() {
            Some(gpu) => gpu,
            None => return,
        }
    };
}

fn floats(device: Device, shape: &[i64], value: impl Fn(usize) -> f32) -> Array {
    let count = shape.iter().product::<i64>() as usize;
    let bytes: Vec<u8> = (0..count).flat_map(|i| value(i).to_le_bytes()).collect();
    Array::from_bytes(device, Type::F32, shape, &bytes).unwrap()
}

/// Bytes are read and written where they are, wherever that is, and may be changed and dropped at once.
#[test]
fn cuda_bytes_of_any_place_go_to_arrays_and_come_back() {
    let gpu = gpu_or_return!();
    // Less and more than the driver stages.
    for count in [1usize, 1000, 1 << 20] {
        let array = Array::empty(gpu, Type::F64, &[count as i64]).unwrap();
        for offset in [0, 1, 4] {
            let mut bytes: Vec<u8> = (0..8 * count + offset).map(|i| (i % 251) as u8).collect();
            let wanted = bytes[offset..].to_vec();
            array.write_bytes(&bytes[offset..]).unwrap();
            bytes.fill(0);
            array.read_bytes(&mut bytes[offset..]).unwrap();
            assert!(bytes[offset..] == wanted, "{count} from {offset}");
        }
        let view = array.select(&[Index::Slice(Slice { step: -1, ..Slice::ALL })]).unwrap();
        let mut turned = vec![0; 8 * count];
        view.read_bytes(&mut turned).unwrap();
        view.write_bytes(&turned).unwrap();
        assert!(view.to_bytes().unwrap() == turned, "{count} turned around");
        let short = array.read_bytes(&mut turned[1..]);
        assert!(matches!(short, Err(RuntimeError::ByteCount { .. })), "{short:?}");
    }
}

fn read(array: &Array) -> Vec<f32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect()
}

/// `y = a * x + y` over strided arrays, as compiled kernels are: one parameter block by value, a loop over the
/// grid.
const SAXPY: &str = "
.version 6.4
.target sm_75
.address_size 64
.visible .entry saxpy(.param .align 8 .b8 p[160])
{
    .reg .pred %q; .reg .f32 %f<5>; .reg .b32 %r<5>; .reg .b64 %d<11>;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x;
    cvt.u64.u32 %d5, %r3; mul.wide.u32 %d1, %r1, %r2; add.u64 %d1, %d1, %d5;
    mul.wide.u32 %d6, %r4, %r2;
    ld.param.u64 %d2, [p+16]; ld.param.f32 %f1, [p+24];
    ld.param.u64 %d3, [p+32]; ld.param.u64 %d7, [p+64];
    ld.param.u64 %d4, [p+96]; ld.param.u64 %d8, [p+128];
    cvta.to.global.u64 %d3, %d3; cvta.to.global.u64 %d4, %d4;
LOOP:
    setp.ge.u64 %q, %d1, %d2; @%q bra DONE;
    mad.lo.u64 %d9, %d1, %d7, %d3; mad.lo.u64 %d10, %d1, %d8, %d4;
    ld.global.f32 %f2, [%d9]; ld.global.f32 %f3, [%d10];
    fma.rn.f32 %f4, %f1, %f2, %f3; st.global.f32 [%d10], %f4;
    add.u64 %d1, %d1, %d6; bra LOOP;
DONE:
    ret;
}
";

/// Counts to `p[0]` on one thread, to keep a stream busy for a while.
const SPIN: &str = "
.version 6.4
.target sm_75
.address_size 64
.visible .entry spin(.param .align 8 .b8 p[8])
{
    .reg .pred %q; .reg .b64 %d<4>;
    ld.param.u64 %d1, [p]; mov.u64 %d2, %globaltimer;
LOOP:
    mov.u64 %d3, %globaltimer; sub.u64 %d3, %d3, %d2;
    setp.lt.u64 %q, %d3, %d1; @%q bra LOOP;
    ret;
}
";

fn saxpy_params(x: &Array, y: &Array, a: f32) -> Vec<u64> {
    let desc = Type::array(Type::F32, 1);
    let layout = ParamLayout::new([Type::F32, desc, desc]);
    assert_eq!(layout.args.iter().map(|f| f.offset).collect::<Vec<_>>(), [24, 32, 96]);
    let mut block = vec![0u64; layout.size as usize / 8];
    let bounds = LaunchBounds { dims: [x.shape()[0] as u32, 1, 1, 1], size: x.len() as u64 };
    block[0] = bounds.dims[0] as u64 | (bounds.dims[1] as u64) << 32;
    block[1] = bounds.dims[2] as u64 | (bounds.dims[3] as u64) << 32;
    block[2] = bounds.size;
    block[3] = a.to_bits().into();
    for (start, desc) in [(4, x.desc()), (12, y.desc())] {
        block[start..start + 8].copy_from_slice(&desc_words(&desc));
    }
    block
}

fn desc_words(desc: &ArrayDesc) -> [u64; 8] {
    let pair = |a: i32, b: i32| u64::from(a as u32) | u64::from(b as u32) << 32;
    let s = desc.strides.map(|s| s as u64);
    let shape = desc.shape;
    [desc.data, desc.grad, pair(shape[0], shape[1]), pair(shape[2], shape[3]), s[0], s[1], s[2], s[3]]
}

fn spin(stream: &Stream, nanoseconds: u64) {
    let module = CudaModule::load(stream.device(), SPIN.as_bytes()).unwrap();
    let spin = CudaFunction::new(module, "spin", 8).unwrap();
    spin.launch(stream, &[nanoseconds], &LaunchConfig { block_dim: 1, ..LaunchConfig::new(1) }).unwrap();
    // The module must outlive its launch; unloading waits for it.
    std::mem::forget(spin);
}

#[test]
fn devices_describe_themselves() {
    let gpu = gpu_or_return!();
    assert_eq!(devices().len() as u32, 1 + cuda_device_count());
    assert!(gpu.is_cuda() && gpu.alias() == "cuda:0" && gpu == device("cuda").unwrap());
    assert!(gpu.arch() >= 75 && gpu.sm_count() > 0 && gpu.max_block_dim() >= 1024);
    assert!(!gpu.name().is_empty());
    assert!(gpu.uuid().unwrap().starts_with("GPU-") && gpu.pci_bus_id().unwrap().contains(':'));
    assert!(gpu.free_memory().unwrap() <= gpu.total_memory() && gpu.total_memory() > 1 << 30);
    assert!(cuda_driver_version().unwrap() >= (11, 4));
    assert!(matches!(Device::cuda(999), Err(RuntimeError::UnknownDevice { .. })));
    println!("{} {} sm_{}", gpu.alias(), gpu.name(), gpu.arch());
}

#[test]
fn without_a_driver_cuda_is_a_clear_error() {
    if cuda_status().is_ok() {
        return;
    }
    let error = device("cuda:0").unwrap_err();
    assert!(
        error.to_string().starts_with("CUDA is not available: no CUDA driver could be loaded"),
        "{error}"
    );
    assert_eq!((cuda_device_count(), devices().len()), (0, 1));
    assert!(matches!(Array::pinned(Type::F32, &[4]), Err(RuntimeError::NoCudaDriver { .. })));
}

#[test]
fn contents_survive_the_round_trip() {
    let gpu = gpu_or_return!();
    for n in [0, 1, 1000, 100_000] {
        let a = floats(gpu, &[n], |i| i as f32);
        assert_eq!(a.memory().kind(), MemoryKind::Device);
        assert_eq!(read(&a), (0..n).map(|i| i as f32).collect::<Vec<_>>());
        let back = a.to_device(Device::cpu()).unwrap();
        assert_eq!(read(&back), read(&a));
    }
}

#[test]
fn fills_of_every_width() {
    let gpu = gpu_or_return!();
    let types = [
        Type::Scalar(Scalar::U8),
        Type::Scalar(Scalar::F16),
        Type::vec(3, Scalar::U8),
        Type::F32,
        Type::vec(3, Scalar::F16),
        Type::F64,
        Type::vec(3, Scalar::F32),
        Type::mat(4, 4, Scalar::F64),
        Type::mat(20, 20, Scalar::F64),
    ];
    for ty in types {
        let size = ty.size() as usize;
        let array = Array::zeros(gpu, ty, &[501, 3]).unwrap();
        assert!(array.to_bytes().unwrap().iter().all(|&b| b == 0), "{ty} zeros");
        let pattern: Vec<u8> = (0..size).map(|i| (i * 7 + 3) as u8).collect();
        array.fill(&pattern, None).unwrap();
        assert!(array.to_bytes().unwrap().chunks_exact(size).all(|c| c == pattern), "{ty} contiguous");
        array.zero(None).unwrap();
        let view = array.select(&[Index::Slice(Slice { step: -2, ..Slice::ALL }), Index::At(1)]).unwrap();
        view.fill(&pattern, None).unwrap();
        for (i, element) in array.to_bytes().unwrap().chunks_exact(size).enumerate() {
            let filled = (i / 3) % 2 == 0 && i % 3 == 1;
            assert!(
                if filled { element == pattern } else { element.iter().all(|&b| b == 0) },
                "{ty} element {i}"
            );
        }
    }
}

#[test]
fn strided_copies_agree_with_the_cpu() {
    let gpu = gpu_or_return!();
    let types = [
        Type::Scalar(Scalar::U8),
        Type::Scalar(Scalar::F16),
        Type::F32,
        Type::F64,
        Type::vec(3, Scalar::F32),
        Type::vec(4, Scalar::F32),
    ];
    for ty in types {
        let shape = [5i64, 6, 7, 8];
        let count = 5 * 6 * 7 * 8 * ty.size() as usize;
        let bytes: Vec<u8> = (0..count).map(|i| (i * 31 % 251) as u8).collect();
        let host = Array::from_bytes(Device::cpu(), ty, &shape, &bytes).unwrap();
        let dev = Array::from_bytes(gpu, ty, &shape, &bytes).unwrap();
        let views: [fn(&Array) -> Array; 5] = [
            |a| a.transpose(None).unwrap(),
            |a| a.transpose(Some(&[2, 0, 3, 1])).unwrap(),
            |a| a.slice(3, Slice { step: -3, ..Slice::ALL }).unwrap(),
            |a| a.select(&[Index::At(2), Index::Slice(Slice::range(1, 5)), Index::At(-1)]).unwrap(),
            |a| a.index(0, 1).unwrap().expand(&[3, 6, 7, 8]).unwrap(),
        ];
        for (i, view) in views.iter().enumerate() {
            let (h, d) = (view(&host), view(&dev));
            let want = h.to_bytes().unwrap();
            // Download, copy within the GPU, upload into a view, download of the view.
            assert_eq!(d.to_bytes().unwrap(), want, "{ty} view {i}: download");
            let packed = d.to_contiguous(None).unwrap();
            assert_eq!(packed.to_bytes().unwrap(), want, "{ty} view {i}: on the GPU");
            if i < 4 {
                let target = Array::zeros(gpu, ty, &shape).unwrap();
                view(&target).copy_from(&h, None).unwrap();
                let expected = Array::zeros(Device::cpu(), ty, &shape).unwrap();
                view(&expected).copy_from(&h, None).unwrap();
                assert_eq!(target.to_bytes().unwrap(), expected.to_bytes().unwrap(), "{ty} view {i}: upload");
                let target = Array::zeros(Device::cpu(), ty, &shape).unwrap();
                view(&target).copy_from(&d, None).unwrap();
                assert_eq!(
                    target.to_bytes().unwrap(),
                    expected.to_bytes().unwrap(),
                    "{ty} view {i}: into a CPU view"
                );
            }
        }
    }
}

#[test]
fn partial_copies_cross_devices() {
    let gpu = gpu_or_return!();
    let host = floats(Device::cpu(), &[10], |i| i as f32);
    let dev = Array::zeros(gpu, Type::F32, &[10]).unwrap();
    dev.copy_range_from(4, &host, 7, 3, None).unwrap();
    assert_eq!(read(&dev), [0., 0., 0., 0., 7., 8., 9., 0., 0., 0.]);
    host.copy_range_from(0, &dev, 5, 2, None).unwrap();
    assert_eq!(read(&host)[..3], [8., 9., 2.]);
}

#[test]
fn a_kernel_gets_its_parameter_block() {
    let gpu = gpu_or_return!();
    let module = CudaModule::load(gpu, SAXPY.as_bytes()).unwrap();
    let saxpy = CudaFunction::new(module, "saxpy", 160).unwrap();
    assert!(saxpy.num_regs().unwrap() > 0 && saxpy.max_block_dim() >= 256);
    assert!(saxpy.blocks_per_sm(256, 0).unwrap() >= 1);
    let stream = gpu.stream().unwrap();
    let n = 100_001;
    let x = floats(gpu, &[2 * n], |i| i as f32);
    let x = x.slice(0, Slice { step: 2, ..Slice::ALL }).unwrap();
    for config in [
        LaunchConfig::new(n as u64),
        LaunchConfig { block_dim: 32, max_blocks: 7, ..LaunchConfig::new(n as u64) },
        LaunchConfig { shared_bytes: 64 << 10, ..LaunchConfig::new(n as u64) },
    ] {
        let y = floats(gpu, &[n], |_| 1.0);
        saxpy.launch(&stream, &saxpy_params(&x, &y, 0.5), &config).unwrap();
        let got = read(&y);
        assert!(got.iter().enumerate().all(|(i, &v)| v == i as f32 + 1.0), "{config:?}");
    }
    // A backwards view: strides are signed.
    let y = floats(gpu, &[n], |_| 0.0);
    let back = y.slice(0, Slice { step: -1, ..Slice::ALL }).unwrap();
    saxpy.launch(&stream, &saxpy_params(&x, &back, 1.0), &LaunchConfig::new(n as u64)).unwrap();
    assert_eq!(read(&y)[0], 2.0 * (n - 1) as f32);
}

#[test]
fn launch_mistakes_are_told() {
    let gpu = gpu_or_return!();
    let module = CudaModule::load(gpu, SAXPY.as_bytes()).unwrap();
    assert!(matches!(
        CudaFunction::new(module.clone(), "daxpy", 8),
        Err(RuntimeError::NoSuchFunction { .. })
    ));
    let saxpy = CudaFunction::new(module, "saxpy", 160).unwrap();
    let stream = gpu.stream().unwrap();
    let launch = |words: usize, block_dim| {
        saxpy.launch(&stream, &vec![0; words], &LaunchConfig { block_dim, ..LaunchConfig::new(1) })
    };
    assert_eq!(launch(19, 256), Err(RuntimeError::ParamBytes { expected: 160, found: 152 }));
    assert!(matches!(launch(20, 4096), Err(RuntimeError::BlockDim { block_dim: 4096, .. })));
    assert!(matches!(launch(20, 0), Err(RuntimeError::BlockDim { .. })));
    let error =
        CudaModule::load(gpu, b".version 6.4\n.target sm_75\n.address_size 64\nnonsense").unwrap_err();
    assert!(matches!(&error, RuntimeError::ModuleLoad { log, .. } if log.contains("line 4")), "{error}");
}

#[test]
fn streams_overlap_and_events_order_and_time_them() {
    let gpu = gpu_or_return!();
    let (a, b) = (Stream::new(gpu, 0).unwrap(), Stream::new(gpu, -1).unwrap());
    assert!(b.priority().unwrap() <= a.priority().unwrap());
    let (start, end) = (Event::new(gpu, true).unwrap(), Event::new(gpu, true).unwrap());
    start.record(&a).unwrap();
    spin(&a, 500_000_000);
    end.record(&a).unwrap();
    assert!(!a.is_complete().unwrap() && !end.is_complete().unwrap(), "the host did not wait");
    assert!(b.is_complete().unwrap(), "the other stream is free");
    b.wait_event(&end).unwrap();
    let after = b.record_event().unwrap();
    assert!(!after.is_complete().unwrap(), "the other stream waits for the event");
    after.synchronize().unwrap();
    assert!(a.is_complete().unwrap());
    let elapsed = start.elapsed_ms(&end).unwrap();
    assert!((490.0..5000.0).contains(&elapsed), "{elapsed} ms");
    assert_eq!(start.elapsed_ms(&after), Err(RuntimeError::NoTiming));

    spin(&a, 20_000_000);
    b.wait_stream(&a).unwrap();
    b.synchronize().unwrap();
    assert!(a.is_complete().unwrap());
}

#[test]
fn the_current_stream_can_be_changed() {
    // A device of its own would be better; the one GPU's stream is put back at once.
    let gpu = gpu_or_return!();
    let mine = Stream::new(gpu, 0).unwrap();
    // SAFETY: `mine` outlives the adopted stream.
    let adopted = unsafe { Stream::from_handle(gpu, mine.handle()) }.unwrap();
    assert_eq!(adopted, mine);
    drop(adopted);
    mine.synchronize().unwrap();
    assert!(!mine.is_capturing().unwrap());
    assert!(matches!(Stream::new(Device::cpu(), 0), Err(RuntimeError::Unsupported { .. })));
}

#[test]
fn memory_waits_for_every_stream_that_uses_it() {
    let gpu = gpu_or_return!();
    let other = Stream::new(gpu, 0).unwrap();
    let n = 1 << 20;
    let source = Array::zeros(gpu, Type::F32, &[n]).unwrap();
    source.fill(&7f32.to_le_bytes(), None).unwrap();
    let target = Array::zeros(gpu, Type::F32, &[n]).unwrap();
    other.wait_stream(&gpu.stream().unwrap()).unwrap();
    spin(&other, 30_000_000);
    target.copy_from(&source, Some(&other)).unwrap();
    // If the memory came back at once, this allocation would take it and overwrite what is still to be copied.
    drop(source);
    let thief = Array::empty(gpu, Type::F32, &[n]).unwrap();
    thief.fill(&(-1f32).to_le_bytes(), None).unwrap();
    other.synchronize().unwrap();
    assert!(read(&target).iter().all(|&v| v == 7.0));
}

#[test]
fn pinned_memory_is_copied_without_waiting() {
    let gpu = gpu_or_return!();
    let n = 1 << 20;
    let pinned = Array::pinned(Type::F32, &[n]).unwrap();
    assert!(pinned.is_pinned() && pinned.device().is_cpu() && read(&pinned)[0] == 0.0);
    let stream = Stream::new(gpu, 0).unwrap();
    let dev = floats(gpu, &[n], |i| i as f32);
    stream.wait_stream(&gpu.stream().unwrap()).unwrap();
    spin(&stream, 50_000_000);
    pinned.copy_from(&dev, Some(&stream)).unwrap();
    assert!(!stream.is_complete().unwrap(), "the host did not wait");
    stream.synchronize().unwrap();
    assert!(read(&pinned).iter().enumerate().all(|(i, &v)| v == i as f32));
    // Dropped while a copy from it is queued: it must stay until the copy is done.
    spin(&stream, 20_000_000);
    dev.copy_from(&pinned, Some(&stream)).unwrap();
    drop(pinned);
    stream.synchronize().unwrap();
    assert_eq!(read(&dev)[17], 17.0);
}

#[test]
fn the_pool_counts_and_keeps() {
    let gpu = gpu_or_return!();
    if !gpu.is_mempool_supported() {
        println!("skipped: {gpu} has no memory pools");
        return;
    }
    assert!(gpu.is_mempool_enabled());
    let block = Allocation::new(gpu, 64 << 20).unwrap();
    assert!(gpu.mempool_used_bytes().unwrap() >= 64 << 20);
    drop(block);
    assert!(gpu.mempool_used_high_bytes().unwrap() >= 64 << 20);
    let before = gpu.mempool_release_threshold().unwrap();
    gpu.set_mempool_release_threshold(42 << 20).unwrap();
    assert_eq!(gpu.mempool_release_threshold().unwrap(), 42 << 20);
    gpu.set_mempool_release_threshold(before).unwrap();
}

#[test]
fn too_much_memory_is_an_error_and_the_device_lives() {
    let gpu = gpu_or_return!();
    let bytes = gpu.total_memory() + (1 << 30);
    let error = Allocation::new(gpu, bytes).unwrap_err();
    assert!(
        matches!(error, RuntimeError::OutOfMemory { requested_bytes, .. } if requested_bytes == bytes),
        "{error}"
    );
    assert_eq!(read(&floats(gpu, &[3], |i| i as f32)), [0.0, 1.0, 2.0]);
}

#[test]
fn threads_share_a_device() {
    let gpu = gpu_or_return!();
    let module = CudaModule::load(gpu, SAXPY.as_bytes()).unwrap();
    let saxpy = Arc::new(CudaFunction::new(module, "saxpy", 160).unwrap());
    std::thread::scope(|scope| {
        for t in 0..8 {
            let saxpy = saxpy.clone();
            scope.spawn(move || {
                let stream = gpu.stream().unwrap();
                for _ in 0..20 {
                    let (x, y) = (floats(gpu, &[4096], |i| i as f32), floats(gpu, &[4096], |_| t as f32));
                    saxpy.launch(&stream, &saxpy_params(&x, &y, 2.0), &LaunchConfig::new(4096)).unwrap();
                    assert!(read(&y).iter().enumerate().all(|(i, &v)| v == 2.0 * i as f32 + t as f32));
                }
            });
        }
    });
}

#[test]
fn gpus_exchange_arrays() {
    let first = gpu_or_return!();
    if cuda_device_count() < 2 {
        println!("skipped: one GPU only");
        return;
    }
    let second = Device::cuda(1).unwrap();
    let a = floats(first, &[1000, 7], |i| i as f32);
    let b = a.to_device(second).unwrap();
    assert_eq!(read(&b), read(&a));
    let (turned, target) = (a.transpose(None).unwrap(), Array::zeros(second, Type::F32, &[1000, 7]).unwrap());
    target.transpose(None).unwrap().copy_from(&turned, None).unwrap();
    assert_eq!(read(&target), read(&a));
    let column = a.slice(1, Slice { step: 3, ..Slice::ALL }).unwrap();
    let target = Array::zeros(second, Type::F32, &[1000, 3]).unwrap();
    target.copy_from(&column, None).unwrap();
    assert_eq!(read(&target)[..6], [0.0, 3.0, 6.0, 7.0, 10.0, 13.0]);
}
