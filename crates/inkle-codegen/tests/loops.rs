//! Loops that lanes leave at different times.

mod common;

use common::ways::{launches, same, same_everywhere, units};
use common::{Arg, exact, i32s, module, runnable_targets};
use inkle_codegen::{CpuTarget, Emit, Lanes, Options, Target, compile, emit_text};

macro_rules! kernel {
    ($name:literal) => {
        include_str!(concat!("kernels/", $name, ".ink"))
    };
}

#[test]
fn what_is_the_same_in_lanes_that_are_still_in_a_loop() {
    // Sums stay in the set for ever or leave it soon; the threads of the longest launch read the first of them.
    let launches = launches(|n, r| {
        let points = (0..n.max(40)).map(|_| r.unit() * 1.5).collect::<Vec<_>>();
        let results = vec![0.0; n as usize];
        vec![Arg::f32(points), Arg::i32(vec![0; n as usize]), Arg::f32(results), Arg::Bytes(i32s([40]))]
    });
    same_everywhere(kernel!("escape"), &launches, 7);
}

/// A loop whose rounds wait for each other runs in as many vectors at a time as the registers hold.
#[test]
fn loops_that_wait_run_in_several_vectors() {
    let lanes = |text: &str, cpu: &str| {
        let target = CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
        let options = Options { lanes: Lanes::Auto, contiguous: u64::MAX, ..exact(2, 1) };
        compile(&module(text), &Target::Cpu(target), &options).expect("it compiles").lanes
    };
    assert_eq!(lanes(kernel!("escape"), "x86-64-v4"), 64);
    assert_eq!(lanes(kernel!("escape"), "x86-64-v3"), 16);
    assert_eq!(lanes(kernel!("escape"), "x86-64-v2"), 4);
    // Each step of a sum over neighbours needs the last one's, but the next vector can begin meanwhile.
    assert_eq!(lanes(kernel!("nbody"), "x86-64-v4"), 16);
    let many = crowded_loop(7);
    assert_eq!(lanes(&many, "x86-64-v4"), 32);
    assert_eq!(lanes(&many, "x86-64-v3"), 8);
    let launches = launches(|n, r| vec![Arg::f32(units(n, r)), Arg::f32(vec![0.0; n as usize])]);
    let targets: Vec<CpuTarget> =
        runnable_targets().into_iter().filter(|target| target.cpu != "x86-64-v2").collect();
    same(&many, &launches, 3, &targets, &[(2, 16), (2, 32), (2, 64)]);
}

/// Without registers for masks they stay as wide as what was compared, from one round to the next too.
#[test]
fn masks_without_registers_are_not_repacked() {
    let target = CpuTarget { cpu: "x86-64-v3".into(), ..CpuTarget::baseline_x86_64() };
    let options = Options { contiguous: u64::MAX, ..exact(2, 8) };
    for text in [kernel!("escape"), kernel!("divergent_if"), kernel!("trip_counts")] {
        let text = emit_text(&module(text), &Target::Cpu(target.clone()), &options, Emit::Asm);
        let text = text.expect("it compiles");
        assert!(text.contains("vblendv"), "lanes that are not active keep what they have\n{text}");
        for repacked in ["vpackss", "vpmovzxw", "vpmovsxw"] {
            assert!(!text.contains(repacked), "{repacked}\n{text}");
        }
    }
}

/// Short kernels keep the constants of functions in registers, long ones read them where they need them.
#[test]
fn constants_of_short_kernels_are_read_once() {
    let read_in_place = |sums: usize| {
        let sums: String = (0..sums).map(|k| format!("%s{} = add %s{k}, %v : f32\n", k + 1)).collect();
        let last = sums.matches('\n').count();
        let text = format!(
            "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {{
              %i = tid 0 : i32
              %xe = elem %x, %i : ref<f32>
              %v = load %xe : f32
              %s0 = exp %v : f32
              {sums}
              %ye = elem %y, %i : ref<f32>
              store %ye, %s{last}
              return
            }}"
        );
        let target = CpuTarget { cpu: "x86-64-v4".into(), ..CpuTarget::baseline_x86_64() };
        let options = Options { contiguous: u64::MAX, ..exact(2, 16) };
        let text = emit_text(&module(&text), &Target::Cpu(target), &options, Emit::Asm).expect("it compiles");
        text.matches("{1to16}").count()
    };
    let (short, long) = (read_in_place(0), read_in_place(120));
    assert!(short == 0 && long >= 5, "{short} and {long}");
}

/// A loop that carries `count` values more than the one that ends it.
fn crowded_loop(count: usize) -> String {
    let list = |each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(", ");
    let (results, types) = (list(&|k| format!("%r{k}")), list(&|_| "f32".into()));
    let carried = list(&|k| format!("%c{k}: f32 = %v"));
    let params = list(&|k| format!("%b{k}: f32"));
    let steps: String =
        (0..count).map(|k| format!("%n{k} = mul %b{}, %v : f32\n", (k + 1) % count)).collect();
    let next = list(&|k| format!("%n{k}"));
    let sums: String = (1..count).map(|k| format!("%s{k} = add %s{}, %r{k} : f32\n", k - 1)).collect();
    format!(
        "kernel @k(%x: array<f32, 1>, %y: array<f32, 1>) {{
          %i = tid 0 : i32
          %xe = elem %x, %i : ref<f32>
          %v = load %xe : f32
          %small = const 0.001 : f32
          {results}, %left = while carry({carried}, %w: f32 = %v) -> ({types}, f32) {{
            %size = abs %w : f32
            %go = gt %size, %small : bool
            yield %go
          }} do({params}, %w_: f32) {{
            {steps}
            %half = const 0.5 : f32
            %next_w = mul %w_, %half : f32
            yield {next}, %next_w
          }}
          %s0 = add %left, %r0 : f32
          {sums}
          %ye = elem %y, %i : ref<f32>
          store %ye, %s{}
          return
        }}",
        count - 1
    )
}
