//! GPU code of atomic updates: what a block or a warp does once, and what each thread does for itself.

mod common;

use common::{module, with_packages};
use inkle_codegen::{CodegenError, CudaOutput, CudaTarget, Options, Target, compile};

fn ptx_for(arch: u32, text: &str, options: &Options) -> String {
    let target = |output| Target::Cuda(CudaTarget { arch, output });
    let artifact =
        compile(&module(text), &target(CudaOutput::Ptx), options).unwrap_or_else(|e| panic!("{e}"));
    let ptx = String::from_utf8(artifact.code).expect("PTX is text");
    with_packages();
    match compile(&module(text), &target(CudaOutput::Cubin), options) {
        Err(CodegenError::MissingLibrary { library, .. }) => println!("not assembled: no {library}"),
        Err(e) => panic!("{e}\n{ptx}"),
        Ok(_) => {}
    }
    ptx
}

fn ptx(text: &str) -> String {
    ptx_for(90, text, &Options { contiguous: u64::MAX, aligned: true, ..Options::default() })
}

/// How often a text has a part.
fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

/// A kernel of a list `%x` of values `%v`, of which each thread has one, and `%out`.
fn kernel(ty: &str, body: &str) -> String {
    format!(
        "kernel @k(%x: array<{ty}, 1>, %out: array<{ty}, 1>, %slot: i32) {{
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<{ty}>
  %v = load %xe : {ty}
  %place = elem %out, %slot : ref<{ty}>
{body}
  return
}}"
    )
}

/// Whether threads of a warp or block put their updates together.
fn combines(text: &str) -> bool {
    ["activemask", "shfl", "redux", "match", "barrier"].iter().any(|part| text.contains(part))
}

#[test]
fn a_block_adds_once_to_a_place_that_all_threads_share() {
    let text = ptx(&kernel("f32", "  %o = atomic_add %place, %v : f32"));
    assert_eq!(count(&text, "red.relaxed.gpu.global.add.f32"), 1, "{text}");
    assert_eq!((count(&text, "barrier.sync"), count(&text, "shfl.sync.down.b32")), (1, 10), "{text}");
    assert!(text.contains("ld.global.v4.b32"), "several elements a thread: {text}");
    // What changes nothing is minus zero.
    assert!(text.contains("0f80000000") && !text.contains(".local"), "{text}");
    let doubles = ptx(&kernel("f64", "  %o = atomic_sub %place, %v : f64"));
    assert_eq!(count(&doubles, "red.relaxed.gpu.global.add.f64"), 1, "{doubles}");
    assert_eq!(count(&doubles, "shfl.sync.down.b32"), 20, "{doubles}");
}

#[test]
fn integers_are_reduced_in_one_instruction_where_there_is_one() {
    for (op, ty, redux) in [
        ("add", "i32", "add.s32"),
        ("sub", "u32", "add.s32"),
        ("min", "i32", "min.s32"),
        ("max", "u32", "max.u32"),
        ("xor", "u32", "xor.b32"),
    ] {
        let text = kernel(ty, &format!("  %o = atomic_{op} %place, %v : {ty}"));
        let new = ptx(&text);
        assert_eq!(count(&new, &format!("redux.sync.{redux}")), 2, "{op} {ty}: {new}");
        assert!(!new.contains("shfl"), "{new}");
        let old = ptx_for(75, &text, &Options { contiguous: u64::MAX, ..Options::default() });
        assert!(!old.contains("redux") && old.contains("shfl.sync.down"), "{old}");
    }
    let long = ptx(&kernel("i64", "  %o = atomic_max %place, %v : i64"));
    assert!(long.contains("shfl.sync.down") && long.contains("red.relaxed.gpu.global.max.s64"), "{long}");
}

#[test]
fn halves_are_added_by_the_hardware_where_it_can() {
    for (ty, arch, native) in [("f16", 75, true), ("f16", 90, true), ("bf16", 80, false), ("bf16", 90, true)]
    {
        for op in ["add", "sub"] {
            let own = format!("  %own = elem %out, %i : ref<{ty}>\n  %o = atomic_{op} %own, %v : {ty}");
            let text = ptx_for(arch, &kernel(ty, &own), &Options::default());
            let sum = format!("red.relaxed.gpu.global.add.noftz.{ty}");
            assert_eq!((text.contains(&sum), text.contains("cas")), (native, !native), "{ty} {arch}: {text}");
        }
    }
}

#[test]
fn a_condition_is_asked_for_by_the_block() {
    let body = "  %zero = const 0.0 : f32
  %hit = gt %v, %zero : bool
  if %hit {
    %o = atomic_add %place, %v : f32
    yield
  } else {
    yield
  }";
    let text = ptx(&kernel("f32", body));
    assert_eq!(count(&text, "barrier.red.or.pred"), 1, "{text}");
    assert_eq!(count(&text, "red.relaxed.gpu.global.add.f32"), 1, "{text}");
}

#[test]
fn what_comes_after_an_update_sees_it() {
    let load = "  %o = atomic_add %place, %v : f32\n  %now = load %place : f32\n  store %xe, %now";
    let other = "  %o = atomic_add %place, %v : f32\n  %p = atomic_max %place, %v : f32";
    let stored = "  %o = atomic_add %place, %v : f32\n  store %place, %v";
    for body in [load, other, stored] {
        let text = ptx(&kernel("f32", body));
        assert!(!text.contains("barrier"), "{text}");
        assert!(text.contains("activemask") && text.contains("shfl.sync.down"), "{text}");
    }
}

#[test]
fn in_loops_a_warp_adds_once() {
    let body = "  %zero = const 0 : i32
  %one = const 1 : i32
  for %j: i32 = %zero, %i, %one {
    %o = atomic_add %place, %v : f32
    %w = load %xe : f32
    store %xe, %w
    yield
  }";
    let text = ptx(&kernel("f32", body));
    assert!(text.contains("activemask") && !text.contains("barrier"), "{text}");
    // Warps of which some threads have left.
    assert!(text.contains("shfl.sync.idx") && text.contains("vote.sync.ballot"), "{text}");
}

#[test]
fn threads_with_places_of_their_own_do_not_ask() {
    let text = ptx(&kernel("f32", "  %own = elem %out, %i : ref<f32>\n  %o = atomic_add %own, %v : f32"));
    assert!(!combines(&text), "{text}");
    assert_eq!(count(&text, "red.relaxed.gpu.global.add.f32"), 1, "{text}");
}

#[test]
fn places_found_at_run_time_are_compared() {
    let body =
        "  %p = cast %v : i32\n  %there = elem %out, %p : ref<f32>\n  %o = atomic_add %there, %v : f32";
    let text = ptx(&kernel("f32", body));
    assert_eq!((count(&text, "match.all.sync"), count(&text, "match.any.sync")), (1, 1), "{text}");
    assert_eq!(
        count(&text, "red.relaxed.gpu.global.add.f32"),
        3,
        "together, each, or what a block kept: {text}"
    );
    let spatial = kernel("f32", body).replace("%out: array<f32, 1>", "%out: array<f32, 3>");
    let spatial = ptx(&spatial
        .replace("elem %out, %slot", "elem %out, %slot, %slot, %slot")
        .replace("elem %out, %p", "elem %out, %p, %p, %p"));
    assert_eq!((count(&spatial, "match.all.sync"), count(&spatial, "match.any.sync")), (1, 0), "{spatial}");
}

#[test]
fn blocks_keep_sums_and_ask_for_few_blocks() {
    let body = "  %p = cast %v : i32\n  %there = elem %out, %p : ref<i32>\n  %one = const 1 : i32";
    let sum = format!("{body}\n  %o = atomic_add %there, %one : i32");
    let histogram = ptx(&kernel("i32", &sum));
    assert!(
        histogram.contains(".entry inkle_kernel_few_blocks(") && histogram.contains("%nctaid.x"),
        "{histogram}"
    );
    assert_eq!(count(&histogram, "red.relaxed.cta.shared.add.u32"), 1, "{histogram}");
    assert_eq!(count(&histogram, "barrier.sync"), 2, "{histogram}");
    // What is read, asked for, or more than added to is the array's own.
    let read = format!("{sum}\n  %now = load %there : i32\n  store %xe, %now");
    let asked = format!("{sum}\n  store %xe, %o");
    let other = format!("{body}\n  %o = atomic_max %there, %v : i32");
    for body in [read, asked, other] {
        let text = ptx(&kernel("i32", &body));
        assert!(!text.contains("shared") && text.contains(".entry inkle_kernel("), "{text}");
        assert!(!text.contains("nctaid"), "{text}");
    }
    let checked = ptx_for(90, &kernel("i32", &sum), &Options { checks: true, ..Options::default() });
    assert!(!checked.contains("shared"), "threads that fail a check do not come to the end: {checked}");
    // Where all threads have one place a block adds in registers.
    let one = ptx(&kernel("i32", "  %o = atomic_add %place, %v : i32"));
    assert!(one.contains(".entry inkle_kernel_few_blocks(") && !one.contains("shared.add"), "{one}");
}

#[test]
fn a_count_gives_each_thread_its_number() {
    let body = "  %one = const 1 : i32
  %o = atomic_add %place, %one : i32
  store %xe, %o";
    let text = ptx(&kernel("i32", body));
    assert_eq!((count(&text, "atom.global.add.u32"), count(&text, "st.global.b32")), (1, 1), "{text}");
    assert!(text.contains("popc.b32") && text.contains("shfl.sync.idx"), "{text}");
    let differing = ptx(&kernel("i32", "  %o = atomic_add %place, %v : i32\n  store %xe, %o"));
    assert!(!combines(&differing) && differing.contains("atom."), "{differing}");
}

#[test]
fn checked_and_unoptimised_code_updates_one_by_one() {
    let text = kernel("f32", "  %o = atomic_add %place, %v : f32");
    let quick = ptx_for(90, &text, &Options { optimization_level: 0, ..Options::default() });
    assert!(!combines(&quick), "{quick}");
    // Threads that fail a check do not come to the end.
    let checked = ptx_for(90, &text, &Options { checks: true, ..Options::default() });
    assert!(!checked.contains("barrier") && checked.contains("activemask"), "{checked}");
}

#[test]
fn kernels_that_wait_in_loops_put_nothing_off() {
    let text = "kernel @k(%x: array<i32, 1>) {
  %i = tid 0 : i32
  %zero = const 0 : i32
  %one = const 1 : i32
  %e = elem %x, %zero : ref<i32>
  while {
    %now = load %e : i32
    %early = lt %now, %i : bool
    yield %early
  } do {
    yield
  }
  %o = atomic_add %e, %one : i32
  return
}";
    let text = ptx(text);
    assert!(!text.contains("barrier"), "{text}");
}
