//! The CUDA side over a driver made of host memory: what is called when, on which context, and what is freed.

mod driver;

use std::sync::{Mutex, MutexGuard};

use driver::{Kind, context_stack, state};
use inkle_ir::{CheckRecord, Scalar, Type};
use inkle_runtime::{
    Allocation, Array, CudaFunction, CudaModule, Device, ErrorClass, Event, Index, LaunchConfig,
    RuntimeError, Slice, Stream, collect_retired, cuda_driver_version, default_device, device, devices,
};

/// The driver's state is shared, so tests take turns. All memory of an earlier test is given back first.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    let guard = TURN.lock().unwrap_or_else(|e| e.into_inner());
    // SAFETY: the fake's functions have the driver's signatures.
    unsafe { inkle_runtime::cuda::install_driver(&driver::lookup) };
    driver::clear_contexts();
    {
        let mut state = state();
        state.busy.clear();
        state.capturing.clear();
        state.launches.clear();
        state.calls.clear();
    }
    collect_retired();
    guard
}

fn gpu(ordinal: u32) -> Device {
    Device::cuda(ordinal).unwrap()
}

fn blocks(kind: Kind) -> usize {
    state().blocks.values().filter(|b| b.kind == kind).count()
}

fn used(device: usize) -> usize {
    state().used(device)
}

/// How many streams and events are alive.
fn handles() -> (usize, usize) {
    let state = state();
    (state.streams.len(), state.events.len())
}

fn calls_of(name: &str) -> usize {
    state().calls.iter().filter(|c| **c == name).count()
}

/// An array of distinct bytes in each element.
fn sample(device: Device, ty: Type, shape: &[i64]) -> Array {
    let bytes = shape.iter().product::<i64>() as usize * ty.size() as usize;
    let bytes: Vec<u8> = (0..bytes).map(|i| (i * 37 % 253) as u8).collect();
    Array::from_bytes(device, ty, shape, &bytes).unwrap()
}

#[test]
fn devices_are_listed_without_contexts() {
    let _turn = turn();
    let all = devices();
    assert_eq!(all.iter().map(|d| d.alias()).collect::<Vec<_>>(), ["cpu", "cuda:0", "cuda:1"]);
    let second = device("cuda:1").unwrap();
    assert_eq!((second.name(), second.arch(), second.sm_count()), ("Fake 1", 90, 4));
    assert_eq!(second.pci_bus_id(), Some("00:01:AB"));
    assert_eq!(second.uuid(), Some("GPU-02020202-0202-0202-0202-020202020202"));
    assert_eq!(cuda_driver_version(), Ok((13, 1)));
    assert_eq!(default_device(), gpu(0));
    assert_eq!(calls_of("cuDevicePrimaryCtxRetain"), 0);
    second.synchronize().unwrap();
    assert_eq!(
        calls_of("cuDevicePrimaryCtxRetain"),
        0,
        "nothing to wait for on a device that was never used"
    );
}

#[test]
fn the_thread_s_context_is_put_back() {
    let _turn = turn();
    // The first device stays current on a thread that had none, which is the driver's own default.
    Array::zeros(gpu(0), Type::F32, &[4]).unwrap().to_bytes().unwrap();
    assert_eq!(context_stack(), [0]);
    Array::zeros(gpu(1), Type::F32, &[4]).unwrap().to_bytes().unwrap();
    assert_eq!(context_stack(), [0]);
    driver::clear_contexts();
    Array::zeros(gpu(1), Type::F32, &[4]).unwrap().to_bytes().unwrap();
    assert_eq!(context_stack(), [0usize; 0]);
    driver::push_stranger();
    let (a, b) = (sample(gpu(0), Type::F32, &[4]), Array::zeros(gpu(1), Type::F32, &[4]).unwrap());
    b.copy_from(&a, None).unwrap();
    drop((a, b));
    assert_eq!(context_stack(), [99]);
    assert!(state().retained.iter().all(|&n| n <= 1), "a context is retained once");
}

#[test]
fn memory_comes_from_the_pool_and_goes_back() {
    let _turn = turn();
    let before = used(0);
    let a = Allocation::new(gpu(0), 1000).unwrap();
    assert_eq!((used(0), blocks(Kind::Device)), (before + 1000, 0));
    assert_eq!(gpu(0).mempool_used_bytes().unwrap() as usize, before + 1000);
    drop(a);
    assert_eq!(used(0), before);
    assert_eq!(gpu(0).mempool_release_threshold(), Ok(u64::MAX), "unused memory is kept");

    gpu(0).set_mempool_enabled(false).unwrap();
    let a = Allocation::new(gpu(0), 1000).unwrap();
    assert_eq!(blocks(Kind::Device), 1);
    gpu(0).set_mempool_enabled(true).unwrap();
    drop(a);
    assert_eq!((blocks(Kind::Device), used(0)), (0, before));
}

#[test]
fn memory_is_kept_for_streams_that_use_it() {
    let _turn = turn();
    let stream = Stream::new(gpu(0), 0).unwrap();
    let before = used(0);
    let a = Allocation::new(gpu(0), 64).unwrap();
    a.record_use(&stream);
    a.record_use(&gpu(0).stream().unwrap());
    state().busy.insert(stream.handle() as usize);
    drop(a);
    assert_eq!(used(0), before + 64, "the stream is not done");
    collect_retired();
    assert_eq!(used(0), before + 64);
    assert_eq!((calls_of("cuStreamSynchronize"), calls_of("cuCtxSynchronize")), (0, 0), "nobody waits");
    state().busy.clear();
    let next = Allocation::new(gpu(0), 100).unwrap();
    assert_eq!(used(0), before + 100, "given back at the next allocation");
    drop(next);
}

#[test]
fn frees_stay_out_of_captures() {
    let _turn = turn();
    let home = gpu(0).stream().unwrap();
    let other = Stream::new(gpu(0), 0).unwrap();
    let a = Allocation::new(gpu(0), 64).unwrap();
    let b = Allocation::new(gpu(0), 64).unwrap();
    b.record_use(&other);
    let addresses = [a.address(), b.address()];
    state().capturing.extend([home.handle() as usize, other.handle() as usize]);
    drop((a, b));
    assert!(addresses.iter().all(|a| state().blocks.contains_key(a)));
    state().capturing.clear();
    collect_retired();
    assert!(addresses.iter().all(|a| !state().blocks.contains_key(a)));
}

#[test]
fn out_of_memory_names_the_numbers() {
    let _turn = turn();
    let error = Allocation::new(gpu(1), driver::DEVICE_BYTES + 1).unwrap_err();
    assert_eq!(error.class(), ErrorClass::OutOfMemory);
    assert_eq!(
        error,
        RuntimeError::OutOfMemory {
            device: "cuda:1".into(),
            requested_bytes: driver::DEVICE_BYTES + 1,
            free_bytes: Some(driver::DEVICE_BYTES - used(1)),
        }
    );
}

#[test]
fn memory_held_back_is_waited_for_when_there_is_no_other() {
    let _turn = turn();
    let stream = Stream::new(gpu(1), 0).unwrap();
    let big = driver::DEVICE_BYTES / 4 * 3;
    let a = Allocation::new(gpu(1), big).unwrap();
    a.record_use(&stream);
    state().busy.insert(stream.handle() as usize);
    drop(a);
    let b = Allocation::new(gpu(1), big).unwrap();
    assert_eq!(b.bytes(), big);
}

#[test]
fn copies_between_host_and_gpu_wait_only_for_ordinary_memory() {
    let _turn = turn();
    let home = gpu(0).stream().unwrap();
    let small = sample(Device::cpu(), Type::F32, &[100]);
    let dev = Array::empty(gpu(0), Type::F32, &[100]).unwrap();
    dev.copy_from(&small, None).unwrap();
    assert_eq!(calls_of("cuStreamSynchronize"), 0, "a small source is staged by the driver");
    assert_eq!(dev.to_bytes().unwrap(), small.to_bytes().unwrap());
    assert_eq!(calls_of("cuStreamSynchronize"), 1, "ordinary memory is complete when the call returns");

    let before = blocks(Kind::Pinned);
    let pinned = Array::pinned(Type::F32, &[100]).unwrap();
    assert!(pinned.is_pinned() && pinned.to_bytes().unwrap().iter().all(|&b| b == 0));
    pinned.copy_from(&dev, None).unwrap();
    assert_eq!(calls_of("cuStreamSynchronize"), 1);
    state().busy.insert(home.handle() as usize);
    drop(pinned);
    assert_eq!(blocks(Kind::Pinned), before + 1, "the stream may still write it");
    state().busy.clear();
    collect_retired();
    assert_eq!(blocks(Kind::Pinned), before);
}

#[test]
fn gpus_without_a_link_exchange_through_pinned_memory() {
    let _turn = turn();
    let before = blocks(Kind::Pinned);
    for ty in [Type::Scalar(Scalar::U8), Type::F32, Type::vec(3, Scalar::F32)] {
        let a = sample(gpu(0), ty, &[6, 5]);
        let b = a.to_device(gpu(1)).unwrap();
        assert_eq!((b.device(), b.to_bytes().unwrap()), (gpu(1), a.to_bytes().unwrap()));
        let turned = a.transpose(None).unwrap();
        let target = Array::empty(gpu(1), ty, &[5, 6]).unwrap();
        target.copy_from(&turned, None).unwrap();
        assert_eq!(target.to_bytes().unwrap(), turned.to_bytes().unwrap());
        let every_other = target.slice(0, Slice { step: -2, ..Slice::ALL }).unwrap();
        every_other.copy_from(&turned.slice(0, Slice::range(0, 3)).unwrap(), None).unwrap();
        assert_eq!(
            every_other.to_bytes().unwrap(),
            turned.slice(0, Slice::range(0, 3)).unwrap().to_bytes().unwrap()
        );
    }
    collect_retired();
    assert_eq!(blocks(Kind::Pinned), before);
}

#[test]
fn linked_gpus_copy_directly() {
    let _turn = turn();
    let a = sample(gpu(1), Type::F32, &[6, 5]);
    for _ in 0..2 {
        assert_eq!(a.to_device(gpu(0)).unwrap().to_bytes().unwrap(), a.to_bytes().unwrap());
    }
    assert_eq!((calls_of("cuMemcpyPeerAsync"), calls_of("cuMemHostAlloc")), (2, 0));
    // The link is made once, whichever test came first.
    assert!(calls_of("cuCtxEnablePeerAccess") <= 1 && calls_of("cuMemPoolSetAccess") <= 1);
}

#[test]
fn the_source_s_stream_waits_for_a_copy_to_another_gpu() {
    let _turn = turn();
    let (home, away) = (gpu(0).stream().unwrap(), gpu(1).stream().unwrap());
    let (a, b) = (sample(gpu(1), Type::F32, &[8]), Array::empty(gpu(0), Type::F32, &[8]).unwrap());
    state().busy.insert(home.handle() as usize);
    b.copy_from(&a, None).unwrap();
    assert!(!away.is_complete().unwrap(), "the source must not be overwritten before it is copied");
    state().busy.clear();
}

type View = fn(&Array) -> Array;

/// Views whose elements lie apart, backwards, or in another order.
const VIEWS: [View; 5] = [
    |a| a.transpose(None).unwrap(),
    |a| a.transpose(Some(&[1, 3, 0, 2])).unwrap(),
    |a| a.slice(3, Slice { step: -2, ..Slice::ALL }).unwrap(),
    |a| a.select(&[Index::At(1), Index::Slice(Slice { step: 2, ..Slice::ALL })]).unwrap(),
    |a| a.slice(1, Slice::range(1, 3)).unwrap(),
];

#[test]
fn strided_copies_agree_with_the_cpu() {
    let _turn = turn();
    let types = [
        Type::Scalar(Scalar::U8),
        Type::Scalar(Scalar::F16),
        Type::F32,
        Type::F64,
        Type::vec(3, Scalar::F32),
        Type::vec(4, Scalar::F32),
        Type::mat(3, 3, Scalar::F16),
    ];
    for ty in types {
        let (host, dev) = (sample(Device::cpu(), ty, &[2, 4, 3, 5]), sample(gpu(0), ty, &[2, 4, 3, 5]));
        for (i, view) in VIEWS.iter().enumerate() {
            let want = view(&host).to_bytes().unwrap();
            assert_eq!(view(&dev).to_bytes().unwrap(), want, "{ty} view {i}: download");
            assert_eq!(view(&dev).to_contiguous(None).unwrap().to_bytes().unwrap(), want, "{ty} view {i}");
            let (on_host, on_dev) = (
                Array::zeros(Device::cpu(), ty, &[2, 4, 3, 5]).unwrap(),
                Array::zeros(gpu(0), ty, &[2, 4, 3, 5]).unwrap(),
            );
            view(&on_host).copy_from(&view(&host), None).unwrap();
            view(&on_dev).copy_from(&view(&host), None).unwrap();
            assert_eq!(on_dev.to_bytes().unwrap(), on_host.to_bytes().unwrap(), "{ty} view {i}: upload");
            on_dev.zero(None).unwrap();
            view(&on_dev).copy_from(&view(&dev), None).unwrap();
            assert_eq!(
                on_dev.to_bytes().unwrap(),
                on_host.to_bytes().unwrap(),
                "{ty} view {i}: between views"
            );
        }
    }
}

#[test]
fn fills_agree_with_the_cpu() {
    let _turn = turn();
    let types = [
        Type::Scalar(Scalar::U8),
        Type::Scalar(Scalar::F16),
        Type::F32,
        Type::F64,
        Type::vec(3, Scalar::U8),
        Type::vec(3, Scalar::F32),
        Type::mat(20, 20, Scalar::F64),
    ];
    for ty in types {
        let pattern: Vec<u8> = (0..ty.size()).map(|i| (i * 11 + 5) as u8).collect();
        let same = vec![9u8; ty.size() as usize];
        for pattern in [&pattern, &same] {
            let whole: View = |a| a.clone();
            for (i, view) in VIEWS.iter().chain([&whole]).enumerate() {
                let (host, dev) =
                    (sample(Device::cpu(), ty, &[2, 4, 3, 5]), sample(gpu(0), ty, &[2, 4, 3, 5]));
                view(&host).fill(pattern, None).unwrap();
                view(&dev).fill(pattern, None).unwrap();
                assert_eq!(dev.to_bytes().unwrap(), host.to_bytes().unwrap(), "{ty} view {i}");
            }
        }
    }
}

#[test]
fn fills_of_plain_words_use_the_driver() {
    let _turn = turn();
    let a = Array::zeros(gpu(0), Type::F64, &[8]).unwrap();
    a.fill(&[1, 2, 3, 4, 1, 2, 3, 4], None).unwrap();
    assert_eq!(
        (calls_of("cuMemsetD8Async"), calls_of("cuMemsetD32Async"), state().launches.len()),
        (1, 1, 0)
    );
    // Four bytes of alignment one need not lie on a word.
    let memory = Allocation::new(gpu(0), 64).unwrap();
    let odd = Array::from_parts(memory, 3, Type::vec(4, Scalar::U8), &[5], None).unwrap();
    odd.fill(&[1, 2, 3, 4], None).unwrap();
    assert!(odd.to_bytes().unwrap().chunks_exact(4).all(|c| c == [1, 2, 3, 4]));
}

#[test]
fn launches_pass_the_block_and_the_grid() {
    let _turn = turn();
    let module = CudaModule::load(gpu(1), b".version 6.4").unwrap();
    let kernel = CudaFunction::new(module, "kernel", 32).unwrap();
    assert_eq!((kernel.max_block_dim(), kernel.num_regs(), kernel.local_bytes()), (512, Ok(14), Ok(13)));
    let stream = Stream::new(gpu(1), 0).unwrap();
    let params = [1u64, 2, 3, u64::MAX];
    let config =
        LaunchConfig { block_dim: 128, max_blocks: 5, shared_bytes: 60_000, ..LaunchConfig::new(10_000) };
    kernel.launch(&stream, &params, &config).unwrap();
    kernel.launch(&stream, &params, &LaunchConfig { size: 0, ..config }).unwrap();
    kernel.launch(&stream, &params, &config).unwrap();
    let expected = driver::Launch {
        name: "kernel".into(),
        grid: 5,
        block: 128,
        shared: 60_000,
        stream: stream.handle() as usize,
        params: params.iter().flat_map(|w| w.to_le_bytes()).collect(),
    };
    assert_eq!(state().launches, [expected.clone(), expected]);
    assert_eq!(calls_of("cuFuncSetAttribute"), 1, "more shared memory is asked for once");
    let wrong = gpu(0).stream().unwrap();
    assert!(matches!(kernel.launch(&wrong, &params, &config), Err(RuntimeError::WrongDevice { .. })));
    assert_eq!(
        kernel.launch(&stream, &params, &LaunchConfig { block_dim: 513, ..config }),
        Err(RuntimeError::BlockDim { block_dim: 513, max: 512 })
    );
}

#[test]
fn failures_carry_the_driver_s_words() {
    let _turn = turn();
    let error = CudaModule::load(gpu(0), b"nonsense").unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot load GPU code: cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX (code 218): a sentence\n\
         line 4; error: nonsense"
    );
    let module = CudaModule::load(gpu(0), b"fine").unwrap();
    assert_eq!(
        CudaFunction::new(module.clone(), "missing", 8).unwrap_err(),
        RuntimeError::NoSuchFunction { name: "missing".into() }
    );
    let error = gpu(0).stream().unwrap().priority().unwrap_err();
    assert_eq!(error.to_string(), "the CUDA driver has no cuStreamGetPriority: a newer driver is needed");
}

#[test]
fn code_that_gains_by_few_blocks_gets_few() {
    let _turn = turn();
    let module = CudaModule::load(gpu(1), b".version 6.4").unwrap();
    let few = CudaFunction::new(module.clone(), inkle_ir::FEW_BLOCKS_ENTRY, 8).unwrap();
    let any = CudaFunction::new(module, "inkle_kernel", 8).unwrap();
    let stream = gpu(1).stream().unwrap();
    let grid = |kernel: &CudaFunction, config: LaunchConfig| {
        kernel.launch(&stream, &[1], &config).unwrap();
        state().launches.last().unwrap().grid
    };
    let (many, half) =
        (LaunchConfig::new(1 << 20), LaunchConfig { block_dim: 128, ..LaunchConfig::new(1 << 20) });
    assert_eq!((grid(&any, many), grid(&any, half)), (4096, 8192));
    // Four multiprocessors run 512 threads each at a time.
    let most = grid(&few, many);
    assert!(most.is_multiple_of(2 * 4) && most < 256, "{most} blocks");
    assert_eq!((grid(&few, half), grid(&few, many)), (2 * most, most));
    assert_eq!(grid(&few, LaunchConfig { max_blocks: 3, ..many }), 3);
    assert_eq!(grid(&few, LaunchConfig::new(257)), 2, "no more than are needed");
}

#[test]
fn ptx_is_compiled_without_being_loaded() {
    let _turn = turn();
    assert_eq!(CudaModule::compile(gpu(0), b"text", 3, false).unwrap(), b"cubin -O3 text");
    let error = CudaModule::compile(gpu(0), b"nonsense", 3, false).unwrap_err();
    assert!(error.to_string().contains("CUDA_ERROR_INVALID_PTX"), "{error}");
    assert_eq!(calls_of("cuLinkDestroy"), 2);
    assert_eq!(calls_of("cuModuleLoadDataEx"), 0);
}

#[test]
fn streams_and_events_are_owned_once() {
    let _turn = turn();
    let first = gpu(0).stream().unwrap();
    let (streams, events) = handles();
    let mine = Stream::new(gpu(0), -1).unwrap();
    // SAFETY: `mine` outlives the adopted stream.
    let adopted = unsafe { Stream::from_handle(gpu(0), mine.handle()) }.unwrap();
    assert_eq!(adopted, mine);
    drop(adopted);
    assert_eq!(state().streams.len(), streams + 1, "an adopted stream is not destroyed");
    assert_eq!(gpu(0).set_stream(mine.clone()).unwrap(), first);
    assert_eq!(gpu(0).stream().unwrap(), mine);
    assert!(matches!(gpu(1).set_stream(mine.clone()), Err(RuntimeError::WrongDevice { .. })));
    gpu(0).set_stream(first.clone()).unwrap();

    let (start, end) = (Event::new(gpu(0), true).unwrap(), Event::new(gpu(0), true).unwrap());
    state().busy.insert(mine.handle() as usize);
    start.record(&mine).unwrap();
    assert!(!start.is_complete().unwrap() && !mine.is_complete().unwrap() && first.is_complete().unwrap());
    first.wait_event(&start).unwrap();
    assert!(!first.is_complete().unwrap());
    start.synchronize().unwrap();
    assert_eq!(start.elapsed_ms(&end), Ok(1.5));
    let other = Stream::new(gpu(1), 0).unwrap();
    assert!(matches!(end.record(&other), Err(RuntimeError::WrongDevice { .. })));
    other.wait_stream(&mine).unwrap();
    drop((mine, start, end, other));
    assert_eq!(handles(), (streams, events), "nothing is left over");
}

/// What a kernel on the GPU would do with the address that the loader stored in its module.
fn report(address: u64, format: &[u8], args: &[u64], warnings: u32) {
    let record = std::ptr::with_exposed_provenance_mut::<CheckRecord>(address as usize);
    // SAFETY: the runtime's record lives for ever, and no other thread looks at it in this test.
    let record = unsafe { &mut *record };
    assert_eq!((record.state, record.warnings), (0, 0));
    record.count = args.len() as u32;
    record.args[..args.len()].copy_from_slice(args);
    record.format[..format.len()].copy_from_slice(format);
    (record.warnings, record.state) = (warnings, 2);
}

#[test]
fn reports_of_kernels_come_with_the_next_wait() {
    let _turn = turn();
    let device = gpu(1);
    let plain = CudaModule::load(device, b"plain").unwrap();
    assert_eq!(calls_of("cuMemHostAlloc"), 0, "code without checks needs no record");
    let module = CudaModule::load(device, b".visible .global .u64 inkle_check_record").unwrap();
    let again = CudaModule::load(device, b".visible .global .u64 inkle_check_record").unwrap();
    let stored: Vec<u64> = {
        let state = state();
        // SAFETY: the fake's variables are words of live blocks.
        let read = |&at: &u64| unsafe { *std::ptr::with_exposed_provenance::<u64>(at as usize) };
        state.variables.values().map(read).collect()
    };
    assert!(stored.len() == 2 && stored[0] == stored[1] && stored[0] != 0, "{stored:?}");
    device.synchronize().unwrap();

    let failed = |message: &str| Err(RuntimeError::CheckFailed { message: message.into() });
    report(stored[0], b"index %lld, thread %lld\n\0", &[7, 3], 0);
    gpu(0).synchronize().unwrap();
    assert_eq!(device.synchronize(), failed("index 7, thread 3"));
    // Each report is told once, and the device goes on.
    device.synchronize().unwrap();
    let stream = Stream::new(device, 0).unwrap();
    report(stored[0], b"one\0", &[], 40);
    assert_eq!(stream.synchronize(), failed("one"));
    let event = stream.record_event().unwrap();
    report(stored[0], b"two\0", &[], 0);
    assert_eq!(event.synchronize(), failed("two"));
    let array = sample(device, Type::F32, &[4]);
    report(stored[0], b"three\0", &[], 0);
    assert_eq!(array.to_bytes().map(drop), failed("three"));
    assert_eq!(RuntimeError::CheckFailed { message: String::new() }.class(), ErrorClass::Kernel);
    drop((plain, module, again));
    assert!(state().variables.is_empty());
}
