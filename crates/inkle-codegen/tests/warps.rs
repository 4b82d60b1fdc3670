//! Atomic updates of GPU code, run on the CPU: a thread of the system for each of the block's, and the instructions of a
//! warp and a block (shuffles, votes, barriers) as functions that wait for one another. Which threads are together at an
//! instruction, hardware decides; here the tests do, as differently as it may.

mod common;

use std::collections::HashMap;
use std::sync::{Condvar, Mutex};

use common::{Arg, Code, Numbers, as_f32s, as_i32s, exact, f32s, gpu, module};
use inkle_codegen::{Lanes, Options, compile};
use inkle_ir::{ArrayDesc, LaunchBounds, Module};

/// Which of a warp's threads are together with one of them, as bits.
type Together = fn(u32) -> u32;

const ALONE: Together = |lane| 1 << lane;
const PAIRS: Together = |lane| 3 << (lane & !1);
const EVEN_AND_ODD: Together = |lane| 0x5555_5555 << (lane & 1);
const WARP: Together = |_| !0;

/// What the code calls for an instruction: the thread, which instruction, and its operands.
type Call = extern "C" fn(*const Thread, u32, u64, u64, u64, u64) -> u64;

/// One thread of a block; the code reads the first field.
#[repr(C)]
struct Thread<'a> {
    call: Call,
    index: u32,
    block: &'a Block,
}

struct Block {
    threads: u32,
    /// Those that the launch has.
    existing: u32,
    together: Together,
    warps: Vec<Meetings>,
    whole: Meetings,
}

/// What each of the threads that meet brings.
type Brought = HashMap<u32, [u64; 3]>;
/// What a thread gets of that.
type Conclude<'a> = &'a dyn Fn(u32, &Brought) -> u64;

/// Where threads meet, by the set of them.
#[derive(Default)]
struct Meetings(Mutex<HashMap<Vec<u32>, Meeting>>, Condvar);

#[derive(Default)]
struct Meeting {
    round: u64,
    brought: Brought,
    results: HashMap<u32, u64>,
}

impl Meetings {
    /// Brings something and waits for the others; gives what `conclude` makes of all for this one.
    fn meet(&self, who: u32, members: Vec<u32>, what: [u64; 3], conclude: Conclude<'_>) -> u64 {
        assert!(members.contains(&who), "thread {who} is not among those it meets: {members:?}");
        let mut all = self.0.lock().expect("no thread panics here");
        let meeting = all.entry(members.clone()).or_default();
        meeting.brought.insert(who, what);
        let round = meeting.round;
        if meeting.brought.len() == members.len() {
            meeting.results = members.iter().map(|&m| (m, conclude(m, &meeting.brought))).collect();
            meeting.brought.clear();
            meeting.round += 1;
            self.1.notify_all();
        }
        loop {
            let meeting = all.get(&members).expect("it was made above");
            if meeting.round != round {
                return meeting.results[&who];
            }
            all = self.1.wait(all).expect("no thread panics here");
        }
    }
}

/// The instructions, in the order of their numbers: as LLVM calls them, with result and operand types.
const INSTRUCTIONS: [(&str, &str, &[&str]); 17] = [
    ("activemask", "i32", &[]),
    ("read.ptx.sreg.laneid", "i32", &[]),
    ("read.ptx.sreg.lanemask.lt", "i32", &[]),
    ("shfl.sync.down.i32p", "{ i32, i1 }", &["i32", "i32", "i32", "i32"]),
    ("shfl.sync.idx.i32p", "{ i32, i1 }", &["i32", "i32", "i32", "i32"]),
    ("vote.any.sync", "i1", &["i32", "i1"]),
    ("vote.ballot.sync", "i32", &["i32", "i1"]),
    ("match.all.sync.i64p", "{ i32, i1 }", &["i32", "i64"]),
    ("match.any.sync.i64", "i32", &["i32", "i64"]),
    ("redux.sync.add", "i32", &["i32", "i32"]),
    ("redux.sync.min", "i32", &["i32", "i32"]),
    ("redux.sync.umax", "i32", &["i32", "i32"]),
    ("redux.sync.max", "i32", &["i32", "i32"]),
    ("redux.sync.or", "i32", &["i32", "i32"]),
    ("bar.warp.sync", "void", &["i32"]),
    ("barrier.cta.sync.all", "void", &["i32"]),
    ("barrier.cta.red.or.all", "i1", &["i32", "i1"]),
];

extern "C" fn call(thread: *const Thread, number: u32, a: u64, b: u64, c: u64, d: u64) -> u64 {
    // SAFETY: the code passes on what it was given, which lives until the block has ended.
    let (index, block) = unsafe { ((*thread).index, (*thread).block) };
    let (lane, warp) = (index % 32, index / 32);
    let (name, ..) = INSTRUCTIONS[number as usize];
    let in_warp = |mask: u64, what: [u64; 3], conclude: Conclude<'_>| {
        let members = (0..32).filter(|l| mask >> l & 1 == 1).collect();
        block.warps[warp as usize].meet(lane, members, what, conclude)
    };
    let bits = |all: &Brought, test: &dyn Fn(&[u64; 3]) -> bool| {
        all.iter().filter(|(_, what)| test(what)).fold(0u64, |bits, (&lane, _)| bits | 1 << lane)
    };
    let redux = |fold: fn(i32, i32) -> i32| {
        in_warp(b, [a, 0, 0], &|_, all| {
            let values = all.values().map(|what| what[0] as i32);
            values.reduce(fold).map_or(0, |v| u64::from(v as u32))
        })
    };
    let whole = |what| {
        let any = |_: u32, all: &Brought| u64::from(all.values().any(|what| what[0] & 1 == 1));
        block.whole.meet(index, (0..block.threads).collect(), [what, 0, 0], &any)
    };
    match name {
        "activemask" => {
            let existing =
                (0..32).filter(|l| 32 * warp + l < block.existing).fold(0, |bits, l| bits | 1u32 << l);
            u64::from((block.together)(lane) & existing)
        }
        "read.ptx.sreg.laneid" => lane.into(),
        "read.ptx.sreg.lanemask.lt" => (1u64 << lane) - 1,
        "shfl.sync.down.i32p" | "shfl.sync.idx.i32p" => in_warp(a, [b, c, d], &|me, all| {
            let [own, by, last] = all[&me];
            let from = if name == "shfl.sync.idx.i32p" { by } else { u64::from(me) + by };
            let (from, valid) = if from <= last { (from as u32, 1 << 32) } else { (me, 0) };
            // From a thread that is not there comes anything.
            let v = if from == me { own } else { all.get(&from).map_or(0xdead_beef, |what| what[0]) };
            v & 0xffff_ffff | valid
        }),
        "vote.any.sync" => {
            in_warp(a, [b, 0, 0], &|_, all| u64::from(bits(all, &|what| what[0] & 1 == 1) != 0))
        }
        "vote.ballot.sync" => in_warp(a, [b, 0, 0], &|_, all| bits(all, &|what| what[0] & 1 == 1)),
        "match.all.sync.i64p" => in_warp(a, [b, 0, 0], &|me, all| {
            let same = bits(all, &|what| what[0] == all[&me][0]);
            if same == a { same | 1 << 32 } else { 0 }
        }),
        "match.any.sync.i64" => in_warp(a, [b, 0, 0], &|me, all| bits(all, &|what| what[0] == all[&me][0])),
        "redux.sync.add" => redux(i32::wrapping_add),
        "redux.sync.min" => redux(i32::min),
        "redux.sync.max" => redux(i32::max),
        "redux.sync.or" => redux(|a, b| a | b),
        "redux.sync.umax" => redux(|a, b| (a as u32).max(b as u32) as i32),
        "bar.warp.sync" => in_warp(a, [0; 3], &|_, _| 0),
        "barrier.cta.sync.all" => whole(0),
        _ => whole(b),
    }
}

/// The kernel with a function in the place of each instruction.
fn emulated(module: &Module, options: &Options) -> Code {
    let mut text = gpu::kernel_text(module, options, ", ptr %gpu.thread");
    for (number, (name, result, operands)) in INSTRUCTIONS.iter().enumerate() {
        let call = format!("call {result} @llvm.nvvm.{name}(");
        let emulated = format!("call {result} @warp.{number}(ptr %gpu.thread, ");
        text = text.replace(&call, &emulated).replace("(ptr %gpu.thread, )", "(ptr %gpu.thread)");
        let params: String = operands.iter().enumerate().map(|(i, ty)| format!(", {ty} %a{i}")).collect();
        let (mut wide, mut passed) = (String::new(), String::new());
        for i in 0..4 {
            match operands.get(i) {
                Some(&"i64") => passed += &format!(", i64 %a{i}"),
                Some(ty) => {
                    wide += &format!("  %w{i} = zext {ty} %a{i} to i64\n");
                    passed += &format!(", i64 %w{i}");
                }
                None => passed += ", i64 0",
            }
        }
        let give = match *result {
            "void" => "  ret void".to_owned(),
            "{ i32, i1 }" => "  %low = trunc i64 %r to i32
  %high = lshr i64 %r, 32
  %bit = trunc i64 %high to i1
  %one = insertvalue { i32, i1 } poison, i32 %low, 0
  %both = insertvalue { i32, i1 } %one, i1 %bit, 1
  ret { i32, i1 } %both"
                .to_owned(),
            ty => format!("  %t = trunc i64 %r to {ty}\n  ret {ty} %t"),
        };
        text += &format!(
            "\ndefine internal {result} @warp.{number}(ptr %thread{params}) {{
  %call = load ptr, ptr %thread
{wide}  %r = call i64 %call(ptr %thread, i32 {number}{passed})
{give}
}}\n"
        );
    }
    let text = plain_reductions(&text)
        + "
define void @run_thread(ptr %params, i32 %tid, i32 %ctaid, i32 %ntid, i32 %nctaid, ptr %thread) {
  call void @inkle_kernel(ptr %params, i32 %tid, i32 %ctaid, i32 %ntid, i32 %nctaid, ptr %thread)
  ret void
}
";
    let left = text.lines().find(|l| l.contains("call") && l.contains("@llvm.nvvm."));
    assert!(left.is_none(), "not emulated: {left:?}");
    gpu::load(module, text, "run_thread")
}

/// The GPU's reductions, which are assembly, as LLVM's atomics.
fn plain_reductions(text: &str) -> String {
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some(at) = line.find("asm sideeffect \"red.relaxed.") else {
            lines.push(line.to_owned());
            continue;
        };
        let mut name = line[at..].split([' ', '[']).nth(2).expect("an instruction").split('.').rev();
        let (ty, op) = (name.next().expect("a type"), name.next().expect("an operation"));
        let op = match (op, &ty[..1]) {
            ("add", "f") => "fadd",
            ("min" | "max", "u") => {
                if op == "min" {
                    "umin"
                } else {
                    "umax"
                }
            }
            _ => op,
        };
        let open = line.rfind('(').expect("operands");
        let operands = &line[open + 1..line.rfind(')').expect("operands")];
        lines.push(format!("  %red.{number} = atomicrmw {op} {operands} monotonic"));
    }
    lines.join("\n")
}

/// Runs a launch of `size` threads, blocks in turn, and gives the arguments as they are then.
fn run(text: &str, options: &Options, args: &[Arg], size: u32, threads: u32, together: Together) -> Vec<Arg> {
    run_in(Grid { size, threads, most_blocks: u32::MAX, same: &[] }, text, options, args, together)
}

/// How a launch is spread.
#[derive(Clone, Copy)]
struct Grid<'a> {
    size: u32,
    threads: u32,
    most_blocks: u32,
    /// Arguments that are the same array as others; there are no other arguments than arrays then.
    same: &'a [(usize, usize)],
}

fn run_in(grid: Grid<'_>, text: &str, options: &Options, args: &[Arg], together: Together) -> Vec<Arg> {
    let Grid { size, threads, most_blocks, same } = grid;
    let module = module(text);
    let lanes = compile(&module, &gpu::target(), options).unwrap_or_else(|e| panic!("{e}")).lanes;
    let code = emulated(&module, options);
    // SAFETY: that is the type of the function that `emulated` adds.
    let entry: unsafe extern "C" fn(*const u64, u32, u32, u32, u32, *const Thread) =
        unsafe { std::mem::transmute(code.entry()) };
    let mut ran = args.to_vec();
    let blocks = size.div_ceil(threads * lanes).min(most_blocks);
    code.with_params(&mut ran, &[size as i32], |params| {
        let mut params = params.to_vec();
        for &(to, from) in same {
            let [to, from] =
                [to, from].map(|arg| (size_of::<LaunchBounds>() + arg * size_of::<ArrayDesc>()) / 8);
            params.copy_within(from..from + size_of::<ArrayDesc>() / 8, to);
        }
        let params = &params;
        for ctaid in 0..blocks {
            let block = Block {
                threads,
                existing: (size.div_ceil(lanes) - ctaid * threads).min(threads),
                together,
                warps: (0..threads.div_ceil(32)).map(|_| Meetings::default()).collect(),
                whole: Meetings::default(),
            };
            std::thread::scope(|scope| {
                for index in 0..threads {
                    let block = &block;
                    scope.spawn(move || {
                        let thread = Thread { call, index, block };
                        // SAFETY: the block is laid out as the code expects, and the kernels stay in their arrays.
                        unsafe { entry(params.as_ptr(), index, ctaid, threads, blocks, &thread) };
                    });
                }
            });
        }
    });
    ran
}

const SHAPES: [(u32, u32); 5] = [(1, 32), (70, 64), (130, 100), (260, 128), (37, 20)];

fn options(lanes: Lanes) -> Options {
    Options { contiguous: u64::MAX, aligned: true, lanes, ..exact(2, 1) }
}

/// A kernel of values `%v`, of which each thread has one, and `%out`.
fn kernel(ty: &str, body: &str) -> String {
    format!(
        "kernel @k(%x: array<{ty}, 1>, %out: array<{ty}, 1>) {{
  %i = tid 0 : i32
  %xe = elem %x, %i : ref<{ty}>
  %v = load %xe : {ty}
  %zero = const 0 : i32
  %one = const 1 : i32
  %two = const 2 : i32
  %three = const 3 : i32
  %first = elem %out, %zero : ref<{ty}>
  %second = elem %out, %one : ref<{ty}>
  %third = elem %out, %two : ref<{ty}>
{body}
  return
}}"
    )
}

fn ints(n: u32) -> Vec<i32> {
    let mut numbers = Numbers(u64::from(n));
    (0..n).map(|_| numbers.below(200) as i32 - 100).collect()
}

#[test]
fn what_blocks_put_off_they_do_at_the_end() {
    let sum = kernel("f32", "  %o = atomic_add %first, %v : f32\n  %p = atomic_sub %second, %v : f32");
    for (size, threads) in SHAPES {
        let values = ints(size);
        let args = [Arg::f32(values.iter().map(|&v| v as f32)), Arg::f32([5.0, 0.0, -0.0])];
        for lanes in [Lanes::Fixed(1), Lanes::Auto] {
            let got = run(&sum, &options(lanes), &args, size, threads, WARP);
            let total = values.iter().sum::<i32>() as f32;
            assert_eq!(as_f32s(got[1].data()), [5.0 + total, -total, -0.0], "{size} in blocks of {threads}");
        }
    }
}

#[test]
fn conditions_that_some_threads_or_none_meet() {
    let body = "  %few = gt %v, %three : bool
  if %few {
    %o = atomic_add %second, %one : i32
    yield
  } else {
    %never = gt %zero, %one : bool
    if %never {
      %p = atomic_add %third, %one : i32
      yield
    } else {
      yield
    }
    yield
  }";
    let text = kernel("i32", body);
    for (size, threads) in SHAPES {
        for limit in [-1000, 0, 95, 1000] {
            let values: Vec<i32> = ints(size).iter().map(|v| v - limit).collect();
            let args = [Arg::i32(values.iter().copied()), Arg::i32([0, 0, 7])];
            let got = run(&text, &options(Lanes::Auto), &args, size, threads, WARP);
            let want = values.iter().filter(|&&v| v > 3).count() as i32;
            assert_eq!(as_i32s(got[1].data()), [0, want, 7]);
        }
    }
}

#[test]
fn whichever_threads_are_together_add_up() {
    // The load at the end keeps the updates where they are.
    let ints_text = kernel(
        "i32",
        "  %o = atomic_add %first, %v : i32
  %p = atomic_max %second, %v : i32
  %low = and %v, %three : i32
  %some = elem %out, %low : ref<i32>
  %q = atomic_add %some, %one : i32
  %now = load %second : i32
  store %xe, %now",
    );
    let floats_text = kernel(
        "f32",
        "  %o = atomic_add %first, %v : f32
  %p = atomic_min %second, %v : f32
  %q = atomic_max %third, %v : f32
  %now = load %second : f32
  store %xe, %now",
    );
    for (size, threads) in SHAPES {
        let values = ints(size);
        for together in [ALONE, PAIRS, EVEN_AND_ODD, WARP] {
            let args = [Arg::i32(values.iter().copied()), Arg::i32([0, -200, 0, 0])];
            let got = run(&ints_text, &options(Lanes::Fixed(1)), &args, size, threads, together);
            let count = |k: i32| values.iter().filter(|&&v| v & 3 == k).count() as i32;
            let out = as_i32s(got[1].data());
            assert_eq!((out[0], out[2], out[3]), (values.iter().sum::<i32>() + count(0), count(2), count(3)));
            for (seen, own) in as_i32s(got[0].data()).iter().zip(&values) {
                assert!(seen >= own, "a thread does not see its own update");
            }
            let args = [Arg::f32(values.iter().map(|&v| v as f32)), Arg::f32([0.0, 200.0, -200.0])];
            let got = run(&floats_text, &options(Lanes::Fixed(1)), &args, size, threads, together);
            let out = as_f32s(got[1].data());
            let (least, most) = (values.iter().min(), values.iter().max());
            let ends = [least, most].map(|v| *v.expect("there are some") as f32);
            assert_eq!(out, [values.iter().sum::<i32>() as f32, ends[0], ends[1]]);
        }
    }
}

#[test]
fn groups_of_a_warp_are_found() {
    let text = "kernel @k(%at: array<i32, 1>, %out: array<f32, 1>) {
  %i = tid 0 : i32
  %ae = elem %at, %i : ref<i32>
  %p = load %ae : i32
  %place = elem %out, %p : ref<f32>
  %w = const 1.0 : f32
  %o = atomic_add %place, %w : f32
  return
}";
    for bins in [1, 3, 40, 300] {
        let mut numbers = Numbers(bins);
        let places: Vec<u64> = (0..200).map(|_| numbers.below(bins)).collect();
        let args = [Arg::i32(places.iter().map(|&p| p as i32)), Arg::f32(vec![0.0; bins as usize])];
        for together in [ALONE, PAIRS, EVEN_AND_ODD, WARP] {
            let got = run(text, &options(Lanes::Auto), &args, 200, 96, together);
            for (bin, &got) in as_f32s(got[1].data()).iter().enumerate() {
                assert_eq!(
                    got,
                    places.iter().filter(|&&p| p == bin as u64).count() as f32,
                    "{bin} of {bins}"
                );
            }
        }
    }
}

/// A kernel that adds `%w` to places of `%out` that `%at` lists.
fn scatter(out: &str, more: &str) -> String {
    format!(
        "kernel @k(%at: array<i32, 1>, %out: array<{out}, 1>{more}) {{
  %i = tid 0 : i32
  %ae = elem %at, %i : ref<i32>
  %p = load %ae : i32
  %place = elem %out, %p : ref<{out}>"
    )
}

#[test]
fn blocks_keep_sums_where_that_pays() {
    let ints = scatter("i32", "")
        + "\n  %three = const 3 : i32\n  %o = atomic_sub %place, %three : i32\n  return\n}";
    let floats = scatter("vec<3, f32>", ", %w: array<f64, 1>")
        + "\n  %v = const 1.0 : f32\n  %all = construct %v, %v, %v : vec<3, f32>
  %o = atomic_add %place, %all : vec<3, f32>
  %d = const 0.5 : f64
  %also = elem %w, %p : ref<f64>
  %q = atomic_add %also, %d : f64\n  return\n}";
    // The last ones are too few threads, and more bins than a block can keep: their blocks do not loop, as all threads of a
    // warp have to come as often here.
    for (bins, size, most_blocks) in [(1, 2048, 1), (5, 2500, 3), (300, 2100, 1), (40, 180, 2), (3000, 90, 1)]
    {
        let mut numbers = Numbers(bins);
        // The last bin gets nothing, and what is nothing stays as it is.
        let places: Vec<u64> = (0..size).map(|_| numbers.below(bins.max(2) - 1)).collect();
        let count = |bin: usize| places.iter().filter(|&&p| p == bin as u64).count() as f32;
        let at = Arg::i32(places.iter().map(|&p| p as i32));
        let grid = Grid { size, threads: 96, most_blocks, same: &[] };
        for together in [EVEN_AND_ODD, WARP] {
            let args = [at.clone(), Arg::i32(vec![7; bins as usize])];
            let got = run_in(grid, &ints, &options(Lanes::Auto), &args, together);
            for (bin, got) in as_i32s(got[1].data()).into_iter().enumerate() {
                assert_eq!(got, 7 - 3 * count(bin) as i32, "{bin} of {bins}");
            }
            let vectors = Arg::array(f32s(vec![-0.0; 3 * bins as usize]), 12, &[bins as i32]);
            let doubles = Arg::array(vec![0; 8 * bins as usize], 8, &[bins as i32]);
            let args = [at.clone(), vectors, doubles];
            let got = run_in(grid, &floats, &options(Lanes::Auto), &args, together);
            for (place, got) in as_f32s(got[1].data()).into_iter().enumerate() {
                let wanted = if count(place / 3) > 0.0 { count(place / 3) } else { -0.0 };
                assert_eq!(got.to_bits(), wanted.to_bits(), "{place} of 3 x {bins}");
            }
            for (bin, got) in got[2].data().chunks_exact(8).enumerate() {
                assert_eq!(f64::from_le_bytes(got.try_into().expect("eight")), 0.5 * f64::from(count(bin)));
            }
        }
    }
}

#[test]
fn sums_of_arrays_with_other_uses_are_not_kept_apart() {
    // Each thread reads what it has added to, through another argument of the same memory.
    let text = scatter("i32", ", %same: array<i32, 1>")
        + "\n  %one = const 1 : i32\n  %o = atomic_add %place, %one : i32
  %again = elem %same, %p : ref<i32>
  %now = load %again : i32
  store %ae, %now\n  return\n}";
    let places: Vec<i32> = (0..2100).map(|i| i % 3).collect();
    let args = [Arg::i32(places.iter().copied()), Arg::i32([0; 3]), Arg::i32([0; 3])];
    let grid = Grid { size: 2100, threads: 64, most_blocks: 1, same: &[(2, 1)] };
    let got = run_in(grid, &text, &options(Lanes::Auto), &args, ALONE);
    assert_eq!(as_i32s(got[1].data()), [700; 3]);
    assert!(as_i32s(got[0].data()).iter().all(|&seen| seen > 0), "a thread does not see its own update");
}

#[test]
fn counted_threads_get_numbers_of_their_own() {
    let text = kernel("i32", "  %o = atomic_add %first, %three : i32\n  store %xe, %o");
    for (size, threads) in SHAPES {
        for together in [ALONE, PAIRS, EVEN_AND_ODD, WARP] {
            let args = [Arg::i32(vec![0; size as usize]), Arg::i32([10, 0, 0])];
            let got = run(&text, &options(Lanes::Auto), &args, size, threads, together);
            let mut seen = as_i32s(got[0].data());
            seen.sort_unstable();
            let want: Vec<i32> = (0..size as i32).map(|k| 10 + 3 * k).collect();
            assert_eq!(seen, want);
            assert_eq!(as_i32s(got[1].data())[0], 10 + 3 * size as i32);
        }
    }
}
