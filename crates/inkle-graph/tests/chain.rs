//! Bundles one after the other as one: what values they pass on, and what memory they share.

use inkle_graph::bundle::{Bundle, BundleError, Direction, Link, Param, Source};
use inkle_graph::{Node, Op, OpStream, Region, RegionKind, Space, View};
use inkle_ir::Type;
use inkle_runtime::algorithms::Algorithm;
use inkle_runtime::{Array, Device};

const COUNT: i32 = 4;

fn view(region: u32, shape: &[i32]) -> View {
    let mut strides = vec![4; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * i64::from(shape[i]);
    }
    View { region, offset: 0, dtype: Type::F32, shape: shape.to_vec(), strides }
}

fn bundle(regions: usize, ops: Vec<Op>, input: View, output: View) -> Bundle {
    let region = Region { bytes: 4 * COUNT as u64, space: Space::Host, kind: RegionKind::Given };
    let param = |name: &str, direction, view| Param { name: name.to_owned(), direction, view };
    Bundle {
        producer: "test".into(),
        notes: Vec::new(),
        stream: OpStream {
            regions: vec![region; regions],
            body: ops.into_iter().map(|op| Node { queue: 0, op }).collect(),
            ..OpStream::default()
        },
        params: vec![param("in", Direction::Input, input), param("out", Direction::Output, output)],
        code: Vec::new(),
        ir: Vec::new(),
        memory: vec![None; regions],
        signer: None,
    }
}

fn scan(input: View, output: View) -> Op {
    Op::Algorithm(Box::new(Algorithm::Scan { input, output, inclusive: true }))
}

/// Running sums, in new memory.
fn sums() -> Bundle {
    let [x, y] = [0, 1].map(|region| view(region, &[COUNT]));
    bundle(2, vec![scan(x.clone(), y.clone())], x, y)
}

/// Running sums, in place.
fn sums_in_place() -> Bundle {
    let x = view(0, &[COUNT]);
    bundle(1, vec![scan(x.clone(), x.clone())], x.clone(), x)
}

/// The same numbers of another shape, the order of its dimensions changed.
fn transposed() -> Bundle {
    let (x, y) = (view(0, &[2, 2]), view(1, &[2, 2]));
    let turned = View { strides: vec![4, 8], ..x.clone() };
    bundle(2, vec![Op::Copy { dst: y.clone(), src: turned }], x, y)
}

fn link(bundle: Bundle, source: Source) -> Link {
    Link { bundle, inputs: vec![source] }
}

fn array(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Array::from_bytes(Device::cpu(), Type::F32, &[values.len() as i64], &bytes).unwrap()
}

/// The chain's outputs, named for their links, for its input `x`.
fn run(links: Vec<Link>, inputs: &[(&str, [f32; 4])], outputs: &[usize]) -> (usize, Vec<Vec<f32>>) {
    let names: Vec<String> = inputs.iter().map(|(name, _)| (*name).to_owned()).collect();
    let results: Vec<_> = outputs.iter().map(|link| (format!("of {link}"), *link, 0)).collect();
    let chain = Bundle::chain(links, &names, &results).unwrap();
    let count = chain.stream.op_count();
    let graph = Bundle::from_bytes(chain.to_bytes()).unwrap().load(Device::cpu(), None).unwrap();
    let mut found = Vec::new();
    // What one launch leaves is nothing to the next.
    for _ in 0..2 {
        for (name, values) in inputs {
            let mut view = graph.param(name).unwrap().view.clone();
            (view.shape, view.strides) = (vec![COUNT], vec![4]);
            graph.write(name, &view, &array(values), None).unwrap();
        }
        graph.launch(None).unwrap();
        let read = |(name, ..): &(String, usize, usize)| {
            let mut view = graph.param(name).unwrap().view.clone();
            (view.shape, view.strides) = (vec![COUNT], vec![4]);
            let into = array(&[0.0; 4]);
            graph.read(name, &view, &into, None).unwrap();
            let bytes = into.to_bytes().unwrap();
            bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
        };
        let now: Vec<Vec<f32>> = results.iter().map(read).collect();
        assert!(found.is_empty() || found == now, "{found:?}, then {now:?}");
        found = now;
    }
    (count, found)
}

#[test]
fn values_go_from_link_to_link_without_copies() {
    let links = vec![
        link(sums(), Source::Input(0)),
        link(sums(), Source::Output(0, 0)),
        link(sums(), Source::Input(0)),
        link(transposed(), Source::Output(1, 0)),
    ];
    let (count, found) = run(links, &[("x", [1.0, 1.0, 1.0, 1.0])], &[0, 1, 2, 3]);
    assert_eq!(
        found,
        [[1.0, 2.0, 3.0, 4.0], [1.0, 3.0, 6.0, 10.0], [1.0, 2.0, 3.0, 4.0], [1.0, 6.0, 3.0, 10.0]]
    );
    assert_eq!(count, 4);
}

#[test]
fn what_a_link_changes_in_place_is_its_own() {
    let links = vec![
        link(sums_in_place(), Source::Input(0)),
        link(sums_in_place(), Source::Output(0, 0)),
        link(sums_in_place(), Source::Input(0)),
        link(sums(), Source::Input(0)),
        link(sums_in_place(), Source::Output(0, 0)),
    ];
    let (_, found) = run(links, &[("x", [1.0, 1.0, 1.0, 1.0])], &[0, 1, 2, 3, 4]);
    let (once, twice) = (vec![1.0, 2.0, 3.0, 4.0], vec![1.0, 3.0, 6.0, 10.0]);
    assert_eq!(found, [once.clone(), twice.clone(), once.clone(), once, twice]);
}

#[test]
fn constants_are_the_same_at_every_launch() {
    let constant = || Source::Constant([1f32, 2.0, 3.0, 4.0].iter().flat_map(|v| v.to_le_bytes()).collect());
    let links =
        vec![link(sums_in_place(), constant()), link(sums(), constant()), link(sums(), Source::Input(0))];
    let (_, found) = run(links, &[("x", [0.0, 1.0, 0.0, 1.0])], &[0, 1, 2]);
    assert_eq!(found, [[1.0, 3.0, 6.0, 10.0], [1.0, 3.0, 6.0, 10.0], [0.0, 1.0, 1.0, 2.0]]);
}

#[test]
fn what_does_not_fit_is_refused() {
    let input = ["x".to_owned()];
    let chain = |links, outputs: &[(&str, usize, usize)]| {
        let outputs: Vec<_> =
            outputs.iter().map(|(name, link, at)| ((*name).to_owned(), *link, *at)).collect();
        Bundle::chain(links, &input, &outputs).unwrap_err()
    };
    let one = || vec![link(sums(), Source::Input(0))];
    assert_eq!(chain(one(), &[("x", 0, 0)]), BundleError::SameName { name: "x".into() });
    let mut small = sums();
    small.stream.regions[0].bytes = 8;
    small.params[0].view.shape = vec![2];
    for (links, outputs, wanted) in [
        (one(), ("y", 0, 1), "`y`, which no run of kernels has,"),
        (vec![link(sums(), Source::Constant(vec![0; 16]))], ("y", 0, 0), "`x`, which no run of kernels has,"),
        (vec![link(sums(), Source::Output(0, 0))], ("y", 0, 0), "whose input `in` is nowhere"),
        (vec![link(sums(), Source::Constant(vec![0; 15]))], ("y", 0, 0), "a constant of 15 bytes as `in`"),
        (vec![Link { bundle: sums(), inputs: vec![] }], ("y", 0, 0), "takes 1 values and is given 0"),
        (
            vec![link(sums(), Source::Input(0)), link(small, Source::Output(0, 0))],
            ("y", 0, 0),
            "in another size or order",
        ),
    ] {
        let error = chain(links, &[outputs]).to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
