//! Objects need nothing that the runtime does not have.

mod common;

use std::path::Path;

use common::module;
use inkle_codegen::{CpuTarget, Lanes, Options, Target, compile, runtime_symbols};
use object::{Object, ObjectSymbol};

#[test]
fn only_the_runtimes_symbols_are_undefined() {
    let level = |cpu: &str| CpuTarget { cpu: cpu.into(), ..CpuTarget::baseline_x86_64() };
    let targets =
        [CpuTarget::baseline_aarch64(), CpuTarget::baseline_x86_64(), level("x86-64-v3"), level("x86-64-v4")];
    let mut unknown = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    for entry in folder.read_dir().expect("the kernels are there") {
        let path = entry.expect("the folder can be read").path();
        let module = module(&std::fs::read_to_string(&path).expect("the kernel can be read"));
        for target in &targets {
            for lanes in [Lanes::Fixed(1), Lanes::Auto] {
                for level in [0, 2] {
                    let options = Options { lanes, optimization_level: level, ..Options::default() };
                    let artifact = compile(&module, &Target::Cpu(target.clone()), &options)
                        .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
                    let file = object::File::parse(&*artifact.code).expect("an object file");
                    for symbol in file.symbols().filter(|s| s.is_undefined()) {
                        let name = symbol.name().expect("a name");
                        let known = name.is_empty() || runtime_symbols().iter().any(|s| s.name == name);
                        if !known {
                            let file = path.file_name().unwrap_or_default().display().to_string();
                            unknown.push(format!("{file} calls {name} on {} at level {level}", target.cpu));
                        }
                    }
                }
            }
        }
    }
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn the_runtime_has_every_symbol() {
    for symbol in runtime_symbols() {
        assert!(inkle_runtime::symbols::resolve(symbol.name).is_some(), "{}", symbol.name);
    }
}

#[test]
fn threads_compile_alike() {
    let text = include_str!("kernels/nbody.ink");
    let make = || {
        let module = module(text);
        let artifact = compile(&module, &Target::Cpu(CpuTarget::host()), &Options::default());
        artifact.unwrap_or_else(|e| panic!("{e}")).code
    };
    let first = make();
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| (0..5).map(|_| make()).collect::<Vec<_>>())).collect();
        for thread in threads {
            for code in thread.join().expect("no panic") {
                assert!(code == first, "the same input gave other code");
            }
        }
    });
}

#[test]
fn what_was_compiled_before_makes_no_difference() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let kernels: Vec<_> = folder
        .read_dir()
        .expect("the kernels are there")
        .map(|entry| {
            let path = entry.expect("the folder can be read").path();
            (module(&std::fs::read_to_string(&path).expect("the kernel can be read")), path)
        })
        .collect();
    for target in [CpuTarget::baseline_aarch64(), CpuTarget::host()] {
        let target = Target::Cpu(target);
        let make = |module| compile(module, &target, &Options::default()).map(|artifact| artifact.code);
        let first: Vec<_> = kernels.iter().map(|(module, _)| make(module)).collect();
        for ((module, path), first) in kernels.iter().zip(&first).rev() {
            match (make(module), first) {
                (Ok(again), Ok(first)) => {
                    assert!(again == *first, "{} became other code", path.display());
                }
                (again, first) => panic!("{}: {again:?} after {first:?}", path.display()),
            }
        }
    }
}
