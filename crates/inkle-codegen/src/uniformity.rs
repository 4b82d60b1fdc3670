//! Which values are the same in all lanes.
//!
//! The lowering discovers most of it as it goes: an operation on uniform parts is uniform. Only what a loop
//! carries must be known before the loop's body has been seen, so this analysis exists for loops. It never calls
//! a value uniform that the lowering would make varying.
//!
//! Within a loop that lanes leave at different times, what is the same in all lanes that are still in it counts as uniform: the
//! rounds so far, say. What such a loop gives is then each lane's own, and varies.

use std::collections::HashMap;
use std::rc::Rc;

use inkle_ir::{Block, Function, FunctionId, Module, OpKind, Value};

/// The result for one function and one choice of varying parameters.
#[derive(Debug)]
pub(crate) struct Uniformity {
    varying: Vec<bool>,
    /// Per result of the function.
    pub results: Vec<bool>,
}

impl Uniformity {
    pub fn is_varying(&self, value: Value) -> bool {
        self.varying[value.index()]
    }
}

/// Analyses functions of one module on demand.
pub(crate) struct Analyser<'m> {
    module: &'m Module,
    /// The launch dimension that runs along the lanes.
    lane_dim: u32,
    known: HashMap<(usize, Vec<bool>), Rc<Uniformity>>,
}

impl<'m> Analyser<'m> {
    pub fn new(module: &'m Module, lane_dim: u32) -> Analyser<'m> {
        Analyser { module, lane_dim, known: HashMap::new() }
    }

    /// The analysis of function `index` for parameters that vary as said.
    pub fn function(&mut self, index: usize, params: &[bool]) -> Rc<Uniformity> {
        let key = (index, params.to_vec());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let module: &'m Module = self.module;
        let function = &module.functions[index];
        let mut walk = Walk { analyser: self, function, varying: vec![false; function.value_count()] };
        for (&param, &varies) in function.block(function.body).params.iter().zip(params) {
            walk.varying[param.index()] = varies;
        }
        let results = walk.block(function.body);
        let done = Rc::new(Uniformity { varying: walk.varying, results });
        self.known.insert(key, done.clone());
        done
    }
}

struct Walk<'a, 'm> {
    analyser: &'a mut Analyser<'m>,
    function: &'m Function,
    varying: Vec<bool>,
}

impl Walk<'_, '_> {
    fn any(&self, values: &[Value]) -> bool {
        values.iter().any(|v| self.varying[v.index()])
    }

    /// Marks a value; gives whether that is news.
    fn mark(&mut self, value: Value, varies: bool) -> bool {
        let slot = &mut self.varying[value.index()];
        let news = varies && !*slot;
        *slot |= varies;
        news
    }

    /// Walks a block and gives which of its terminator's operands vary.
    fn block(&mut self, block: Block) -> Vec<bool> {
        let function = self.function;
        for &op in &function.block(block).ops {
            let data = function.op(op);
            match &data.kind {
                OpKind::Yield | OpKind::Return => {
                    return data.operands.iter().map(|v| self.varying[v.index()]).collect();
                }
                OpKind::If => {
                    let divergent = self.any(&data.operands[..1]);
                    let then = self.block(data.blocks[0]);
                    let otherwise = self.block(data.blocks[1]);
                    for (i, &r) in data.results.iter().enumerate() {
                        let varies = |side: &[bool]| side.get(i).copied().unwrap_or(true);
                        self.mark(r, divergent || varies(&then) || varies(&otherwise));
                    }
                }
                OpKind::For => {
                    let divergent = self.any(&data.operands[..3.min(data.operands.len())]);
                    let start_varies =
                        [0, 2].iter().any(|&i| data.operands.get(i).is_some_and(|v| self.varying[v.index()]));
                    let params = &function.block(data.blocks[0]).params;
                    if let Some(&index) = params.first() {
                        self.mark(index, start_varies);
                    }
                    let inits = data.operands.get(3..).unwrap_or(&[]);
                    self.carried(inits, params.get(1..).unwrap_or(&[]), &data.results, |walk| {
                        (divergent, walk.block(data.blocks[0]))
                    });
                }
                OpKind::While => {
                    let test_params = &function.block(data.blocks[0]).params;
                    let params = &function.block(data.blocks[1]).params;
                    self.carried(&data.operands, test_params, &data.results, |walk| {
                        let test = walk.block(data.blocks[0]);
                        for (&test_param, &param) in test_params.iter().zip(params) {
                            let varies = walk.varying[test_param.index()];
                            walk.mark(param, varies);
                        }
                        (test.iter().any(|&v| v), walk.block(data.blocks[1]))
                    });
                    for (&test_param, &param) in test_params.iter().zip(params) {
                        let varies = self.varying[test_param.index()];
                        self.mark(param, varies);
                    }
                }
                OpKind::Call(callee) => self.call(*callee, &data.operands, &data.results),
                kind => {
                    let varies = match kind {
                        OpKind::Tid(dim) => *dim == self.analyser.lane_dim,
                        // Each lane has its own memory.
                        OpKind::Local(_) => true,
                        // Each lane performs its own, so each sees another old value.
                        OpKind::Atomic(_) | OpKind::AtomicCas => true,
                        _ => self.any(&data.operands),
                    };
                    for &r in &data.results {
                        self.mark(r, varies);
                    }
                }
            }
        }
        Vec::new()
    }

    /// Repeats a loop's walk until what it carries does not change. The walk gives whether lanes may leave the
    /// loop at different times, and which next values vary between lanes that are in it.
    fn carried(
        &mut self,
        inits: &[Value],
        params: &[Value],
        results: &[Value],
        mut walk: impl FnMut(&mut Self) -> (bool, Vec<bool>),
    ) {
        for (&init, &param) in inits.iter().zip(params) {
            let varies = self.varying[init.index()];
            self.mark(param, varies);
        }
        let divergent = loop {
            let (divergent, next) = walk(self);
            let mut changed = false;
            for (i, &param) in params.iter().enumerate() {
                changed |= self.mark(param, next.get(i).copied().unwrap_or(true));
            }
            if !changed {
                break divergent;
            }
        };
        for (&param, &result) in params.iter().zip(results) {
            let varies = self.varying[param.index()];
            self.mark(result, divergent || varies);
        }
    }

    fn call(&mut self, callee: FunctionId, args: &[Value], results: &[Value]) {
        let params: Vec<bool> = args.iter().map(|v| self.varying[v.index()]).collect();
        let known = self.analyser.function(callee.index(), &params);
        for (i, &r) in results.iter().enumerate() {
            self.mark(r, known.results.get(i).copied().unwrap_or(true));
        }
    }
}
