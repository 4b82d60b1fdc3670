//! The functions for C, called as C calls them.

mod common;

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr::{null, null_mut};

use inkle_replay::c::*;

const HOST: u32 = InkleMemory::Host as u32;

fn message() -> String {
    // SAFETY: the function gives a string that lives until the next failure.
    unsafe { CStr::from_ptr(inkle_replay_last_error()) }.to_str().unwrap().to_owned()
}

/// A replay, closed when dropped.
struct Opened(*mut InkleReplay);

impl Opened {
    fn new() -> Opened {
        let (file, mut replay) = (common::file(), null_mut());
        // SAFETY: the arguments are as the function wants them.
        let status = unsafe {
            inkle_replay_open_memory(file.as_ptr().cast(), file.len(), c"cpu".as_ptr(), &mut replay)
        };
        assert_eq!(status, InkleStatus::Ok, "{}", message());
        Opened(replay)
    }

    fn set(&self, name: &CStr, values: &[f32]) -> InkleStatus {
        let (data, bytes) = (values.as_ptr().cast::<c_void>(), size_of_val(values));
        // SAFETY: the replay is open, and the values are as many.
        unsafe { inkle_replay_set_param(self.0, name.as_ptr(), data, bytes, HOST, null_mut()) }
    }

    fn get(&self, name: &CStr, values: &mut [f32]) -> InkleStatus {
        let (data, bytes) = (values.as_mut_ptr().cast::<c_void>(), size_of_val(values));
        // SAFETY: the replay is open, and the values are as many.
        unsafe { inkle_replay_get_param(self.0, name.as_ptr(), data, bytes, HOST, null_mut()) }
    }

    fn launch(&self) -> InkleStatus {
        // SAFETY: the replay is open.
        unsafe { inkle_replay_launch(self.0, null_mut()) }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: it was opened and not closed.
        unsafe { inkle_replay_close(self.0) };
    }
}

#[test]
fn a_graph_is_run() {
    let replay = Opened::new();
    assert_eq!(replay.set(c"a", &[1.0, 2.0, 3.0, 4.0]), InkleStatus::Ok);
    assert_eq!(replay.launch(), InkleStatus::Ok);
    let mut total = [0.0];
    assert_eq!(replay.get(c"total", &mut total), InkleStatus::Ok);
    assert_eq!(total, [10.0]);
    // SAFETY: the replay is open.
    assert_eq!(unsafe { inkle_replay_synchronize(replay.0, null_mut()) }, InkleStatus::Ok);
}

#[test]
fn parameters_are_described() {
    let replay = Opened::new();
    let mut param = MaybeUninit::uninit();
    // SAFETY: the arguments are as the functions want them; the description is read after it was written.
    unsafe {
        assert_eq!(inkle_replay_param_count(replay.0), 5);
        let status = inkle_replay_find_param(replay.0, c"half".as_ptr(), param.as_mut_ptr());
        assert_eq!(status, InkleStatus::Ok);
        let half = param.assume_init();
        assert_eq!((CStr::from_ptr(half.name), CStr::from_ptr(half.dtype)), (c"half", c"float32"));
        assert_eq!((half.direction, half.scalar), (InkleDirection::Output, InkleScalar::Float32));
        assert_eq!((half.ndim, half.shape, half.strides), (1, [2, 1, 1, 1], [8, 0, 0, 0]));
        assert_eq!((half.bytes, half.span_bytes), (8, 12));
        assert_eq!(inkle_replay_param(replay.0, 1, param.as_mut_ptr()), InkleStatus::Ok);
        let other = param.assume_init();
        assert_eq!(CStr::from_ptr(other.dtype), c"vec3f");
        assert_eq!((other.scalars_per_element, other.element_bytes, other.bytes), (3, 12, 24));
        assert_eq!(inkle_replay_param(replay.0, 5, param.as_mut_ptr()), InkleStatus::InvalidArgument);
        assert_eq!(message(), "there is no parameter 5; there are 5");
    }
}

#[test]
fn memory_of_the_caller_is_bound() {
    #[repr(align(64))]
    struct Memory([f32; 4]);
    let (mut a, replay) = (Memory([1.0; 4]), Opened::new());
    // SAFETY: the memory outlives the replay.
    unsafe {
        let data = a.0.as_mut_ptr().cast::<c_void>();
        assert_eq!(inkle_replay_bind(replay.0, c"a".as_ptr(), data, 16, HOST), InkleStatus::Ok);
        assert_eq!(inkle_replay_bind(replay.0, c"a".as_ptr(), data, 12, HOST), InkleStatus::Mismatch);
        data.cast::<f32>().add(3).write(5.0);
    }
    assert_eq!(replay.launch(), InkleStatus::Ok);
    let mut total = [0.0];
    replay.get(c"total", &mut total);
    assert_eq!(total, [8.0]);
}

#[test]
fn misuse_is_a_status_and_a_sentence() {
    let replay = Opened::new();
    let open = |path: *const c_char, device: &CStr| {
        let mut opened = std::ptr::dangling_mut();
        // SAFETY: the arguments are null or strings, and there is a place.
        let status = unsafe { inkle_replay_open(path, device.as_ptr(), &mut opened) };
        assert!(opened.is_null());
        (status, message())
    };
    let path = CString::new(env!("CARGO_MANIFEST_DIR")).unwrap();
    assert_eq!(open(null(), c"cpu"), (InkleStatus::InvalidArgument, "the path is a null pointer".into()));
    assert_eq!(open(path.as_ptr(), c"cpu").0, InkleStatus::File);
    assert_eq!(
        open(c"\xff".as_ptr(), c"cpu"),
        (InkleStatus::InvalidArgument, "the path is not UTF-8".into())
    );
    assert_eq!(open(c"missing".as_ptr(), c"tpu").0, InkleStatus::InvalidArgument);
    assert!(message().contains("tpu"));
    assert_eq!(replay.set(c"nothing", &[]), InkleStatus::NoSuchParam);
    assert_eq!(replay.set(c"a", &[1.0]), InkleStatus::Mismatch);
    // SAFETY: null is allowed for every pointer, and the rest is as the functions want it.
    unsafe {
        assert_eq!(inkle_replay_launch(null_mut(), null_mut()), InkleStatus::InvalidArgument);
        assert_eq!(
            inkle_replay_open(path.as_ptr(), c"cpu".as_ptr(), null_mut()),
            InkleStatus::InvalidArgument
        );
        assert_eq!(inkle_replay_find_param(replay.0, null(), null_mut()), InkleStatus::InvalidArgument);
        let status = inkle_replay_set_param(replay.0, c"a".as_ptr(), null(), 16, HOST, null_mut());
        assert_eq!(status, InkleStatus::InvalidArgument);
        let status = inkle_replay_set_param(replay.0, c"a".as_ptr(), null(), 16, 7, null_mut());
        assert_eq!(status, InkleStatus::InvalidArgument);
        assert!(message().contains("INKLE_MEMORY_HOST"));
        let status = inkle_replay_launch(replay.0, std::ptr::dangling_mut());
        assert_eq!(status, InkleStatus::InvalidArgument);
        assert_eq!(inkle_replay_param_count(null()), 0);
        inkle_replay_close(null_mut());
    }
    assert_eq!(inkle_replay_set_cpu_threads(0), InkleStatus::Unavailable);
}

#[test]
fn signatures_are_asked_for() {
    let (file, key) = common::signed_file();
    let open = |file: &[u8], key: *const u8| {
        let mut opened = null_mut();
        let (data, device) = (file.as_ptr().cast(), c"cpu".as_ptr());
        // SAFETY: the arguments are as the function wants them, and the key is null or has its bytes.
        let status = unsafe { inkle_replay_open_memory_signed(data, file.len(), device, key, &mut opened) };
        drop(Opened(opened));
        status
    };
    assert_eq!(open(&file, key.as_ptr()), InkleStatus::Ok);
    assert_eq!(open(&common::file(), key.as_ptr()), InkleStatus::Signer);
    assert!(message().contains("not signed"));
    assert_eq!(open(&file, null()), InkleStatus::InvalidArgument);
    assert_eq!(open(&file, [0; 32].as_ptr()), InkleStatus::InvalidArgument);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.inkle");
    std::fs::write(&path, &file).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    let mut opened = null_mut();
    // SAFETY: the arguments are as the function wants them.
    let status =
        unsafe { inkle_replay_open_signed(path.as_ptr(), c"cpu".as_ptr(), key.as_ptr(), &mut opened) };
    assert_eq!(status, InkleStatus::Ok);
    drop(Opened(opened));
}

#[test]
fn messages_are_kept_per_thread() {
    assert_eq!(Opened::new().set(c"mine", &[]), InkleStatus::NoSuchParam);
    std::thread::spawn(|| assert_eq!(message(), "")).join().unwrap();
    assert!(message().contains("mine"));
}
