//! What holds for every module: its text reads back, verified IR stays so through all passes, and no text and
//! no damaged module makes the reader or the verifier panic.

use std::time::Instant;

use inkle_ir::arbitrary::{self, Options};
use inkle_ir::simplify::{compact, effects, fix_carried, fold, merge_common, remove_dead};
use inkle_ir::{Module, OpKind, Value, parse, simplify, verify};
use proptest::prelude::*;

fn random_module() -> impl Strategy<Value = Module> {
    let options = (any::<bool>(), any::<bool>()).prop_map(|(transcendental, half)| Options {
        transcendental,
        half,
        ..Options::default()
    });
    (prop::collection::vec(any::<u8>(), 0..2000), options)
        .prop_map(|(bytes, options)| arbitrary::module(&bytes, options))
}

/// Verified, and the same after a trip through its text.
fn check(module: &Module, when: &str) {
    if let Err(errors) = verify(module) {
        panic!("{when}: {errors}\n{module}");
    }
    let text = module.to_string();
    let again = parse(&text).unwrap_or_else(|e| panic!("{when}: {e}\n{text}"));
    assert_eq!(text, again.to_string(), "{when}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_pass_keeps_a_module_right(mut module in random_module()) {
        check(&module, "made");
        let mut known = Vec::new();
        for index in 0..module.functions.len() {
            known.push(effects(&module.functions[index], &known));
            fold(&mut module.functions[index]);
            check(&module, "folded");
            merge_common(&mut module.functions[index], &known);
            check(&module, "merged");
            fix_carried(&mut module.functions[index]);
            check(&module, "carried");
            remove_dead(&mut module.functions[index], &known);
            check(&module, "dead");
            let text = module.to_string();
            compact(&mut module.functions[index]);
            check(&module, "compacted");
            prop_assert_eq!(text, module.to_string());
        }
        simplify(&mut module);
        check(&module, "simplified");
    }

    #[test]
    fn no_text_makes_the_reader_panic(
        module in random_module(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0usize..12), 1..6),
    ) {
        let mut text: Vec<char> = module.to_string().chars().collect();
        let words = ["%1", "@", "struct", "{", "}", "0x", "-", "\"", "é", "vec<4294967295, f32>", " : ", "%0 = "];
        for (from, to, word) in cuts {
            let (from, to) = (from.index(text.len()), to.index(text.len()));
            let to = to.clamp(from, from + 9.min(text.len() - from));
            text.splice(from..to, words[word].chars());
        }
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(module) => {
                let _ = verify(&module);
                let printed = module.to_string();
                let again = parse(&printed).unwrap_or_else(|e| panic!("{e}\n{printed}"));
                prop_assert_eq!(printed, again.to_string());
            }
            Err(error) => prop_assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty()),
        }
    }

    #[test]
    fn no_damaged_module_makes_the_verifier_panic(
        mut module in random_module(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0..10, 0usize..5000), 1..4),
    ) {
        for (at, kind, number) in damage {
            let function = module.functions.last_mut().expect("there is a kernel");
            let op = inkle_ir::Op::new(at.index(function.op_count()));
            match kind {
                0 => drop(function.op_mut(op).operands.pop()),
                1 => function.op_mut(op).operands.push(Value::new(number)),
                2 => drop(function.op_mut(op).results.pop()),
                3 => function.op_mut(op).results.push(Value::new(number)),
                4 => drop(function.op_mut(op).blocks.pop()),
                5 => function.op_mut(op).blocks.push(inkle_ir::Block::new(number % 7)),
                6 => function.op_mut(op).kind = OpKind::Yield,
                7 => function.op_mut(op).kind = OpKind::Call(inkle_ir::FunctionId::new(number)),
                8 => function.op_mut(op).kind = OpKind::For,
                _ => function.op_mut(op).kind = OpKind::Extract(number as u32),
            }
        }
        if let Err(errors) = verify(&module) {
            prop_assert!(!errors.to_string().is_empty());
        }
        let _ = module.to_string();
    }
}

#[test]
fn random_modules_are_worth_running() {
    let options = Options::default();
    let mut seen = std::collections::HashSet::new();
    let mut ops = 0;
    for seed in 0..200 {
        let module = arbitrary::module_from_seed(seed, options);
        check(&module, "made");
        ops += module.functions.iter().map(|f| f.op_count()).sum::<usize>();
        for function in &module.functions {
            for index in 0..function.op_count() {
                seen.insert(function.op(inkle_ir::Op::new(index)).kind.keyword());
            }
        }
    }
    assert!(ops > 200 * 50, "{ops} operations in 200 modules");
    for keyword in [
        "if",
        "for",
        "while",
        "call",
        "load",
        "store",
        "extract_dyn",
        "insert_dyn",
        "comp",
        "view",
        "bitcast",
    ] {
        assert!(seen.contains(keyword), "no `{keyword}` in 200 modules");
    }
}

/// Says how long things take; run it with `--nocapture` to see.
#[test]
fn passes_on_a_large_function() {
    let options = Options { size: 5000, ..Options::default() };
    let mut largest = (0..40)
        .map(|seed| arbitrary::module_from_seed(seed, options))
        .max_by_key(|m| m.functions.last().map_or(0, |f| f.op_count()))
        .expect("there are seeds");
    let count = largest.functions.iter().map(|f| f.op_count()).sum::<usize>();
    let start = Instant::now();
    verify(&largest).expect("it is right");
    let verified = start.elapsed();
    let start = Instant::now();
    let text = largest.to_string();
    let printed = start.elapsed();
    let start = Instant::now();
    parse(&text).expect("it is right");
    let read = start.elapsed();
    let start = Instant::now();
    simplify(&mut largest);
    let simplified = start.elapsed();
    let left = largest.functions.iter().map(|f| f.op_count()).sum::<usize>();
    println!(
        "{count} operations: verified in {verified:?}, printed in {printed:?}, read in {read:?}, simplified to {left} in {simplified:?}"
    );
    check(&largest, "simplified");
}
