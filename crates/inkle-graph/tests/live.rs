//! Live recordings: operations run, and the graph is a function of its inputs.

use std::cell::RefCell;
use std::rc::Rc;

use inkle_graph::bundle::SaveOptions;
use inkle_graph::capture::{self, Observed, Observer};
use inkle_graph::{GraphError, RegionKind};
use inkle_ir::Type;
use inkle_runtime::{Array, Device, RuntimeError, Slice};

/// Records what touches the bytes of some arrays, and everything if there are none; notes what it is shown.
struct Chooses {
    about: Vec<Array>,
    seen: Rc<RefCell<Vec<String>>>,
}

impl Observer for Chooses {
    fn operation(&self, observed: &Observed) -> Result<bool, RuntimeError> {
        self.seen.borrow_mut().push(format!("{}{}", observed.kind, observed.arrays.len()));
        if observed.arrays.iter().any(|used| used.array.len() == 13) {
            return Err(RuntimeError::Refused { why: "thirteen".into() });
        }
        let known = |array: &Array| {
            self.about.iter().any(|a| a.memory().address() == array.memory().address())
                || observed.arrays.iter().any(|used| used.serial > self.about[0].memory().serial() + 2)
        };
        Ok(self.about.is_empty() || observed.arrays.iter().any(|used| known(&used.array)))
    }
}

fn watch(about: &[&Array]) -> Rc<RefCell<Vec<String>>> {
    let seen = Rc::new(RefCell::new(Vec::new()));
    let about = about.iter().map(|array| (*array).clone()).collect();
    capture::set_observer(Some(Rc::new(Chooses { about, seen: seen.clone() })));
    seen
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Array::from_bytes(Device::cpu(), Type::F32, &[values.len() as i64], &bytes).unwrap()
}

fn values(array: &Array) -> Vec<f32> {
    array.to_bytes().unwrap().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

fn part(array: &Array, start: i64, stop: i64) -> Array {
    array.slice(0, Slice { start: Some(start), stop: Some(stop), ..Slice::ALL }).unwrap()
}

fn named(name: &str, array: &Array) -> (String, Array) {
    (name.to_owned(), array.clone())
}

#[test]
fn operations_run_and_the_graph_starts_from_what_was_before_each_time() {
    let (x, table, out) = (floats(&[1.0, 2.0]), floats(&[3.0, 4.0, 5.0]), floats(&[0.0, 0.0, 9.0]));
    let seen = watch(&[]);
    capture::begin_live(Device::cpu()).unwrap();
    assert!(!capture::is_capturing(Device::cpu()), "nobody has to treat it as a capture");
    part(&out, 0, 2).copy_from(&x, None).unwrap();
    part(&out, 1, 2).copy_from(&part(&table, 0, 1), None).unwrap();
    part(&table, 0, 1).fill(&7f32.to_le_bytes(), None).unwrap();
    part(&x, 0, 1).copy_from(&part(&table, 2, 3), None).unwrap();
    assert_eq!((values(&out), values(&x)), (vec![1.0, 3.0, 9.0], vec![5.0, 2.0]), "they ran");
    let graph =
        capture::end_live(Device::cpu(), &[named("x", &x)], &[named("out", &out), named("x_out", &x)])
            .unwrap();
    capture::set_observer(None);
    assert_eq!(*seen.borrow(), ["copy2", "copy2", "fill1", "copy2"]);
    // Nothing that happens to the program's arrays is seen by the graph, nor the other way round.
    out.fill(&0f32.to_le_bytes(), None).unwrap();
    let param = |name: &str| graph.param(name).unwrap().view.clone();
    for step in 0..2 {
        graph.write("x", &param("x"), &floats(&[10.0, 20.0 + step as f32]), None).unwrap();
        graph.launch(None).unwrap();
        let (found, updated) = (floats(&[0.0; 3]), floats(&[0.0; 2]));
        graph.read("out", &param("out"), &found, None).unwrap();
        graph.read("x_out", &param("x_out"), &updated, None).unwrap();
        assert_eq!((values(&found), values(&updated)), (vec![10.0, 3.0, 9.0], vec![5.0, 20.0 + step as f32]));
        let given = graph.array(&param("x")).unwrap();
        assert_eq!(values(&given), [10.0, 20.0 + step as f32], "an input is not written");
    }
    assert_eq!((values(&out), values(&table)), (vec![0.0; 3], vec![7.0, 4.0, 5.0]));
    let given = graph.ops().regions.iter().filter(|region| region.kind == RegionKind::Given).count();
    assert_eq!(given, 1, "only the input comes from outside: {}", graph.ops());
    let bundle = graph.save(&SaveOptions::default()).unwrap();
    let loaded = bundle.load(Device::cpu(), None).unwrap();
    loaded.write("x", &loaded.param("x").unwrap().view, &floats(&[1.0, 1.0]), None).unwrap();
    loaded.launch(None).unwrap();
    let found = floats(&[0.0; 3]);
    loaded.read("out", &loaded.param("out").unwrap().view, &found, None).unwrap();
    assert_eq!(values(&found), [1.0, 3.0, 9.0]);
}

#[test]
fn an_input_that_is_only_read_is_used_where_it_is() {
    let (x, out) = (floats(&[1.0, 2.0]), floats(&[0.0, 0.0]));
    watch(&[]);
    capture::begin_live(Device::cpu()).unwrap();
    out.copy_from(&x, None).unwrap();
    let graph = capture::end_live(Device::cpu(), &[named("x", &x)], &[named("out", &out)]).unwrap();
    capture::set_observer(None);
    assert_eq!(graph.ops().op_count(), 1, "{}", graph.ops());
}

#[test]
fn the_observer_chooses_and_refuses() {
    let (x, other, big) = (floats(&[1.0]), floats(&[2.0]), floats(&[0.0; 13]));
    let seen = watch(&[&x]);
    capture::begin_live(Device::cpu()).unwrap();
    other.fill(&5f32.to_le_bytes(), None).unwrap();
    x.copy_from(&other, None).unwrap();
    let refused = big.fill(&1f32.to_le_bytes(), None);
    assert_eq!(refused, Err(RuntimeError::Refused { why: "thirteen".into() }));
    assert_eq!(values(&big)[0], 0.0, "what is refused does not run");
    let graph = capture::end_live(Device::cpu(), &[], &[named("x", &x)]).unwrap();
    capture::set_observer(None);
    assert_eq!((seen.borrow().len(), graph.ops().op_count()), (3, 1));
    graph.launch(None).unwrap();
    let found = floats(&[0.0]);
    graph.read("x", &graph.param("x").unwrap().view, &found, None).unwrap();
    assert_eq!(values(&found), [5.0], "what was not recorded is a constant");
}

#[test]
fn bodies_are_recorded_and_the_right_one_runs() {
    let (x, flag) = (floats(&[1.0]), Array::zeros(Device::cpu(), Type::I32, &[1]).unwrap());
    watch(&[]);
    let device = Device::cpu();
    capture::begin_live(device).unwrap();
    capture::begin_body(device).unwrap();
    x.fill(&8f32.to_le_bytes(), None).unwrap();
    assert_eq!(values(&x), [1.0], "a body runs when it is complete");
    let unfinished = capture::end_live(device, &[], &[]);
    assert!(matches!(unfinished, Err(GraphError::InsideBody { .. })));
    let on_true = capture::end_body(device).unwrap();
    capture::begin_body(device).unwrap();
    x.fill(&9f32.to_le_bytes(), None).unwrap();
    let on_false = capture::end_body(device).unwrap();
    capture::push_if(&flag, on_true, on_false).unwrap();
    assert_eq!(values(&x), [9.0]);
    let graph = capture::end_live(device, &[named("flag", &flag)], &[named("x", &x)]).unwrap();
    capture::set_observer(None);
    let one = Array::from_bytes(device, Type::I32, &[1], &1i32.to_le_bytes()).unwrap();
    graph.write("flag", &graph.param("flag").unwrap().view, &one, None).unwrap();
    graph.launch(None).unwrap();
    let found = floats(&[0.0]);
    graph.read("x", &graph.param("x").unwrap().view, &found, None).unwrap();
    assert_eq!(values(&found), [8.0]);
    assert_eq!(values(&x), [9.0]);
}
