//! The API for Rust.

mod common;

use inkle_replay::{
    Device, Direction, ErrorKind, Place, PublicKey, Replay, ReplayError, param_bytes, param_span,
};

fn opened() -> Replay {
    Replay::from_bytes(common::file(), Device::cpu()).unwrap()
}

fn kind<T>(outcome: Result<T, ReplayError>) -> (ErrorKind, String) {
    let error = outcome.err().expect("a failure");
    (error.kind(), error.to_string())
}

#[test]
fn a_file_is_opened_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.inkle");
    std::fs::write(&path, common::file()).unwrap();
    let replay = Replay::open(&path, Device::cpu()).unwrap();
    std::fs::remove_file(&path).unwrap();
    for (values, sum) in [([1.0f32, 2.0, 3.0, 4.0], 10.0f32), ([-1.0, 0.0, 0.5, 8.0], 7.5)] {
        replay.set("a", &values).unwrap();
        replay.set("other", &[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        replay.launch(None).unwrap();
        assert_eq!(replay.get::<f32>("total").unwrap(), [sum]);
        assert_eq!(replay.get::<f32>("points").unwrap(), [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
        assert_eq!(replay.get::<f32>("half").unwrap(), [values[0], values[2]]);
    }
}

#[test]
fn parameters_are_described() {
    let replay = opened();
    let described: Vec<_> = replay
        .params()
        .iter()
        .map(|p| (p.name.as_str(), p.direction, p.view.shape.clone(), param_bytes(p), param_span(p)))
        .collect();
    assert_eq!(
        described,
        [
            ("a", Direction::Input, vec![4], 16, 16),
            ("other", Direction::Input, vec![2], 24, 24),
            ("total", Direction::Output, vec![1], 4, 4),
            ("points", Direction::Output, vec![2], 24, 24),
            ("half", Direction::Output, vec![2], 8, 12),
        ]
    );
}

#[test]
fn bound_memory_is_used_in_place() {
    #[repr(align(64))]
    struct Memory([f32; 4]);
    let (mut a, mut half) = (Memory([1.0; 4]), Memory([7.0; 4]));
    let replay = opened();
    // SAFETY: both outlive the replay's last launch, and nothing else touches them meanwhile.
    unsafe {
        let address = std::ptr::from_mut(&mut a).expose_provenance() as u64;
        let adopted = replay.adopt("a", address, 16, Place::Host, false).unwrap();
        replay.bind("a", &adopted).unwrap();
        let address = std::ptr::from_mut(&mut half).expose_provenance() as u64;
        let adopted = replay.adopt("half", address, 12, Place::Host, false).unwrap();
        replay.bind("half", &adopted).unwrap();
    }
    replay.launch(None).unwrap();
    assert_eq!(replay.get::<f32>("total").unwrap(), [4.0]);
    assert_eq!(half.0, [1.0, 7.0, 1.0, 7.0]);
    replay.set("a", &[2.0f32, 3.0, 4.0, 5.0]).unwrap();
    assert_eq!(a.0, [2.0, 3.0, 4.0, 5.0]);
}

#[test]
fn misuse_says_what_is_wrong() {
    let replay = opened();
    let missing = kind(replay.set("b", &[0.0f32]));
    assert_eq!(missing.0, ErrorKind::NoSuchParam);
    assert!(missing.1.contains("a, other, total"), "{}", missing.1);
    assert_eq!(
        kind(replay.set("a", &[0.0f32; 3])),
        (ErrorKind::Mismatch, "graph parameter `a` has 16 bytes, the memory given for it 12".into())
    );
    assert_eq!(
        kind(replay.get::<i32>("points")),
        (
            ErrorKind::Mismatch,
            "graph parameter `points` is of vec3f, the numbers given for it are int32".into()
        )
    );
    // SAFETY: both are refused.
    unsafe {
        assert_eq!(kind(replay.adopt("half", 64, 8, Place::Host, false)).0, ErrorKind::Mismatch);
        assert_eq!(kind(replay.adopt("a", 66, 16, Place::Host, true)).0, ErrorKind::InvalidArgument);
        assert_eq!(kind(replay.adopt("a", 0, 16, Place::Host, true)).0, ErrorKind::InvalidArgument);
        assert_eq!(kind(replay.stream(0)).0, ErrorKind::InvalidArgument);
    }
}

#[test]
fn files_that_are_wrong_are_refused() {
    let open = |bytes: &[u8]| kind(Replay::from_bytes(bytes.to_vec(), Device::cpu()));
    let file = common::file();
    assert_eq!(open(b"").0, ErrorKind::BadBundle);
    assert_eq!(open(&file[..file.len() - 1]).0, ErrorKind::BadBundle);
    let mut newer = file.clone();
    newer[8] += 1;
    let newer = open(&newer);
    assert_eq!(newer.0, ErrorKind::Version);
    assert!(newer.1.contains('1') && newer.1.contains('2'), "{}", newer.1);
    let folder = tempfile::tempdir().unwrap();
    let missing = kind(Replay::open(folder.path().join("missing"), Device::cpu()));
    assert_eq!(missing.0, ErrorKind::File);
    assert!(missing.1.contains("missing"));
}

#[test]
fn a_file_that_must_be_signed_is_refused_without_the_signature() {
    let (file, key) = common::signed_file();
    let (key, other) = (PublicKey::from_bytes(&key).unwrap(), PublicKey::from_bytes(&OTHER_KEY).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.inkle");
    std::fs::write(&path, &file).unwrap();
    let replay = Replay::open_signed(&path, Device::cpu(), &key).unwrap();
    replay.set("a", &[1.0f32; 4]).unwrap();
    replay.launch(None).unwrap();
    assert_eq!(replay.get::<f32>("total").unwrap(), [4.0]);
    assert!(Replay::open(&path, Device::cpu()).is_ok(), "who asks for no signature gets the graph");
    let refused = kind(Replay::open_signed(&path, Device::cpu(), &other));
    assert_eq!(refused.0, ErrorKind::Signer);
    assert!(refused.1.contains(&key.to_string()) && refused.1.contains(&other.to_string()), "{}", refused.1);
    let unsigned = kind(Replay::from_signed_bytes(common::file(), Device::cpu(), &key));
    assert_eq!(unsigned.0, ErrorKind::Signer);
    let mut changed = file;
    *changed.last_mut().unwrap() ^= 1;
    assert_eq!(kind(Replay::from_bytes(changed, Device::cpu())).0, ErrorKind::BadBundle);
}

/// RFC 8032, 7.1, test 1.
const OTHER_KEY: [u8; 32] = [
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a, 0x0e,
    0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
];

#[test]
fn threads_share_a_replay_and_see_its_memory_whole() {
    let replay = opened();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let replay = &replay;
            scope.spawn(move || {
                for _ in 0..200 {
                    replay.set("other", &[thread as f32; 6]).unwrap();
                    replay.launch(None).unwrap();
                    let seen: Vec<f32> = replay.get("points").unwrap();
                    assert!(seen.iter().all(|value| *value == seen[0]), "{seen:?}");
                }
            });
        }
    });
}
