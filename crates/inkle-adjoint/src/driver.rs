//! The functions of the backward module: what they are made from, each made once.

use std::rc::Rc;

use inkle_ir::{Builder, Function, FunctionId, FunctionKind, Links, Module, Op, OpKind, Param, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::activity::{Activity, Info, State, Summaries, array_count, has_float};
use crate::error::AdjointError;
use crate::need::Needs;
use crate::overwrite::{self, Overwrite, Repeated};
use crate::scalar::ones;
use crate::sweep::{Result, Sweep};

/// What an adjoint function is made from.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    function: FunctionId,
    params: Vec<Info>,
    results: Vec<bool>,
}

/// An adjoint function: takes the arguments and the gradients of wanted results, gives the gradients of some
/// parameters.
#[derive(Clone)]
pub(crate) struct Adjoint {
    pub id: FunctionId,
    /// The parameters whose gradients are its results.
    pub params: Vec<usize>,
    /// The parameters that are addresses with a gradient: the gradients' addresses are its last arguments.
    pub addresses: Vec<usize>,
}

/// Makes the functions of the backward module.
pub(crate) struct Driver<'m> {
    pub module: &'m Module,
    pub out: Module,
    summaries: Summaries,
    replays: FxHashMap<FunctionId, FunctionId>,
    adjoints: FxHashMap<Key, Adjoint>,
    copies: FxHashMap<FunctionId, FunctionId>,
    looked_at: FxHashMap<Key, Rc<[bool]>>,
    names: FxHashSet<String>,
    /// What the functions of `out` that are made from others do again of them.
    pub repeated: FxHashMap<FunctionId, Repeated>,
    /// The function whose body is to be replaced by the derivative that it stands for.
    stub: Option<FunctionId>,
}

impl<'m> Driver<'m> {
    pub fn new(module: &'m Module) -> Driver<'m> {
        Driver {
            module,
            out: Module::default(),
            summaries: Summaries::default(),
            replays: FxHashMap::default(),
            adjoints: FxHashMap::default(),
            copies: FxHashMap::default(),
            looked_at: FxHashMap::default(),
            names: FxHashSet::default(),
            repeated: FxHashMap::default(),
            stub: None,
        }
    }

    pub fn push(&mut self, mut function: Function) -> FunctionId {
        let stem = std::mem::take(&mut function.name);
        let mut name = stem.clone();
        let mut number = 2;
        while !self.names.insert(name.clone()) {
            name = format!("{stem}.{number}");
            number += 1;
        }
        function.name = name;
        self.out.functions.push(function);
        FunctionId::new(self.out.functions.len() - 1)
    }

    /// The function without its effects: what it gives, and nothing else.
    pub fn replay(&mut self, id: FunctionId) -> Result<FunctionId> {
        if let Some(&known) = self.replays.get(&id) {
            return Ok(known);
        }
        let module = self.module;
        let f = module.function(id);
        if let Some(replay) = f.links.replay {
            let made = self.copy(replay)?;
            self.replays.insert(id, made);
            return Ok(made);
        }
        if f.native().is_some() {
            let made = self.copy(id)?;
            self.replays.insert(id, made);
            return Ok(made);
        }
        let results = vec![false; f.results.len()];
        let nothing: Vec<Info> = f.params.iter().map(|p| Info::nothing(p.ty)).collect();
        let activity = Activity::new(self.module, f, &mut self.summaries, &nothing, &results);
        let mut sweep = Sweep::new(self, id, activity, f.name.clone(), Vec::new(), f.results.clone());
        let returned = sweep.yielded(f.body);
        let need = sweep.needs.closure(returned.iter().copied());
        sweep.forward(f.body, &need, false)?;
        let returned: Vec<Value> = returned.iter().map(|&v| sweep.primal(v)).collect();
        let made = sweep.finish(returned);
        self.replays.insert(id, made);
        Ok(made)
    }

    /// The function as it is.
    pub fn copy(&mut self, id: FunctionId) -> Result<FunctionId> {
        if let Some(&known) = self.copies.get(&id) {
            return Ok(known);
        }
        let mut function = match self.module.function(id).links.derivative_of {
            Some(of) if self.stub == Some(id) => self.derivative(id, of)?,
            _ => {
                let mut function = self.module.function(id).clone();
                for index in 0..function.op_count() {
                    let op = Op::new(index);
                    if let OpKind::Call(callee) = function.op(op).kind {
                        function.op_mut(op).kind = OpKind::Call(self.copy(callee)?);
                    }
                }
                function
            }
        };
        function.links = Links::default();
        let made = self.push(function);
        self.copies.insert(id, made);
        Ok(made)
    }

    /// The function that gives the gradients of a function's parameters when those of its results are one.
    fn derivative(&mut self, id: FunctionId, of: FunctionId) -> Result<Function> {
        let (stub, f) = (self.module.function(id), self.module.function(of));
        let mut out =
            Function::new(&stub.name, FunctionKind::Func, stub.params.clone(), stub.results.clone());
        out.span = stub.span;
        let body = out.body;
        let params = out.block(body).params.to_vec();
        let is_value = |ty: Type| !matches!(ty, Type::Array(_) | Type::Ref(_));
        let mut gradients: FxHashMap<usize, Value> = FxHashMap::default();
        if let Some(gradient) = f.links.gradient {
            let gradient = self.copy(gradient)?;
            let mut b = Builder::new(&mut out, body);
            let mut args = params.clone();
            args.extend(f.results.iter().map(|&ty| ones(&mut b, ty)).collect::<Vec<_>>());
            for &param in &params {
                let ty = b.ty(param);
                args.push(if is_value(ty) { b.zero(ty) } else { b.value(OpKind::GradArray, [param], ty) });
            }
            let call = b.call(gradient, &args, &stub.results);
            let values = (0..params.len()).filter(|&i| is_value(f.params[i].ty));
            gradients.extend(values.zip(out.op(call).results.iter().copied()));
        } else {
            let info = |ty: Type| Info {
                varied: has_float(ty),
                arrays: SmallVec::from_elem(State::No, array_count(ty)),
            };
            let infos: Vec<Info> = f.params.iter().map(|p| info(p.ty)).collect();
            let wanted: Vec<bool> = f.results.iter().map(|&ty| has_float(ty)).collect();
            let adjoint = self.adjoint(of, &infos, &wanted)?;
            overwrite::check(self.module, of, adjoint.id, &self.repeated)?;
            let mut b = Builder::new(&mut out, body);
            let mut args = params.clone();
            for &ty in f.results.iter().filter(|&&ty| has_float(ty)) {
                args.push(ones(&mut b, ty));
            }
            let types: Vec<Type> = adjoint.params.iter().map(|&i| f.params[i].ty).collect();
            let call = b.call(adjoint.id, &args, &types);
            gradients.extend(adjoint.params.iter().copied().zip(out.op(call).results.iter().copied()));
        }
        let mut b = Builder::new(&mut out, body);
        let mut returned = Vec::new();
        for (index, param) in f.params.iter().enumerate().filter(|(_, p)| is_value(p.ty)) {
            returned.push(gradients.get(&index).copied().unwrap_or_else(|| b.zero(param.ty)));
        }
        b.effect(OpKind::Return, returned);
        Ok(out)
    }

    /// The module with the first function that stands for a derivative made one.
    pub fn complete(&mut self, stub: FunctionId) -> Result<()> {
        self.stub = Some(stub);
        self.copy(FunctionId::new(self.module.functions.len() - 1))?;
        // A link may lead to functions that nothing else reaches, and these to further ones.
        let mut done: FxHashSet<FunctionId> = FxHashSet::default();
        loop {
            let known: Vec<FunctionId> =
                self.copies.keys().copied().filter(|id| !done.contains(id)).collect();
            if known.is_empty() {
                break;
            }
            for id in known {
                done.insert(id);
                for linked in self.module.function(id).links.iter() {
                    self.copy(linked)?;
                }
            }
        }
        let mut order = Vec::new();
        for (&from, &to) in &self.copies {
            let mut links = self.module.function(from).links;
            if from == stub {
                links.derivative_of = None;
            }
            links.iter_mut().for_each(|id| *id = self.copies[id]);
            self.out.functions[to.index()].links = links;
            if self.module.function(from).kind == FunctionKind::Kernel {
                order.push(to);
            }
        }
        // What links led to was copied after the kernel, which comes last.
        let kernel = order[0].index();
        let last = self.out.functions.len() - 1;
        let moved = |id: FunctionId| {
            let index = id.index();
            FunctionId::new(if index == kernel {
                last
            } else if index > kernel {
                index - 1
            } else {
                index
            })
        };
        let function = self.out.functions.remove(kernel);
        self.out.functions.push(function);
        for function in &mut self.out.functions {
            function.links.iter_mut().for_each(|id| *id = moved(*id));
            for index in 0..function.op_count() {
                let op = Op::new(index);
                if let OpKind::Call(callee) = function.op(op).kind {
                    function.op_mut(op).kind = OpKind::Call(moved(callee));
                }
            }
        }
        Ok(())
    }

    /// What a function's reverse sweep needs, to be asked for.
    pub fn needs(&mut self, f: &'m Function, activity: &Activity) -> Needs<'m> {
        let mut looked_at = FxHashMap::default();
        for op in (0..f.op_count()).map(Op::new) {
            let data = f.op(op);
            if let OpKind::Call(callee) = data.kind
                && activity.is_active_op(op)
            {
                let params = data.operands.iter().map(|&v| activity.info(v).clone()).collect();
                let results = data.results.iter().map(|&r| activity.is_active(r)).collect();
                looked_at.insert(op, self.looked_at(Key { function: callee, params, results }));
            }
        }
        Needs::new(f, looked_at)
    }

    /// Which arguments an adjoint function looks at; of the others any will do.
    fn looked_at(&mut self, key: Key) -> Rc<[bool]> {
        if let Some(known) = self.looked_at.get(&key) {
            return known.clone();
        }
        let f = self.module.function(key.function);
        let found: Rc<[bool]> = if f.links.gradient.is_some() || f.native().is_some() {
            f.params.iter().map(|_| true).collect()
        } else {
            let activity = Activity::new(self.module, f, &mut self.summaries, &key.params, &key.results);
            let need = self.needs(f, &activity).of(&activity, f.body);
            let is_address = |ty: Type| matches!(ty, Type::Array(_) | Type::Ref(_));
            let params = f.block(f.body).params.iter();
            params.map(|param| need.contains(param) || is_address(f.ty(*param))).collect()
        };
        self.looked_at.insert(key, found.clone());
        found
    }

    /// The adjoint function for a call with these arguments, when the gradients of `results` are given.
    pub fn adjoint(&mut self, id: FunctionId, params: &[Info], results: &[bool]) -> Result<Adjoint> {
        let key = Key { function: id, params: params.to_vec(), results: results.to_vec() };
        if let Some(known) = self.adjoints.get(&key) {
            return Ok(known.clone());
        }
        let module = self.module;
        let f = module.function(id);
        if f.native().is_some() {
            return Err(AdjointError::Native(f.span));
        }
        let activity = Activity::new(self.module, f, &mut self.summaries, params, results);
        let values = f.block(f.body).params.clone();
        let given: Vec<usize> = (0..values.len()).filter(|&i| activity.is_active(values[i])).collect();
        let types = given.iter().map(|&i| f.params[i].ty).collect();
        let wanted: Vec<usize> = (0..results.len()).filter(|&i| results[i]).collect();
        let addresses: Vec<usize> = (0..values.len())
            .filter(|&i| matches!(f.params[i].ty, Type::Ref(_)) && activity.state(values[i]) != State::No)
            .collect();
        let gradient = |param: &Param| Param { name: format!("adj_{}", param.name), ty: param.ty };
        let more = wanted
            .iter()
            .map(|&i| Param { name: format!("adj_{i}"), ty: f.results[i] })
            .chain(addresses.iter().map(|&i| gradient(&f.params[i])))
            .collect();
        let name = format!("{}.adjoint{}", f.name, self.adjoints.len());
        let mut sweep = Sweep::new(self, id, activity, name, more, types);
        let first = f.params.len();
        for (position, &i) in addresses.iter().enumerate() {
            let address = sweep.out.block(sweep.out.body).params[first + wanted.len() + position];
            sweep.gradients.insert(values[i], address);
        }
        let need = sweep.need(f.body);
        refuse_locals(f, &sweep.activity)?;
        sweep.forward(f.body, &need, true)?;
        let returned = sweep.yielded(f.body);
        for (position, &i) in wanted.iter().enumerate() {
            let gradient = sweep.out.block(sweep.out.body).params[first + position];
            sweep.accumulate(returned[i], gradient);
        }
        sweep.reverse(f.body)?;
        let mut gradients = Vec::new();
        for &i in &given {
            gradients.push(sweep.take_or_zero(values[i]));
        }
        let made = Adjoint { id: sweep.finish(gradients), params: given, addresses };
        self.adjoints.insert(key, made.clone());
        Ok(made)
    }

    /// The backward kernel; gives what may be overwritten although it is needed.
    pub fn kernel(&mut self, params: &[Info]) -> Result<Option<Overwrite>> {
        let id = FunctionId::new(self.module.functions.len() - 1);
        let module = self.module;
        let f = module.function(id);
        let activity = Activity::new(self.module, f, &mut self.summaries, params, &[]);
        let mut sweep =
            Sweep::new(self, id, activity, format!("{}.backward", f.name), Vec::new(), Vec::new());
        let need = sweep.need(f.body);
        refuse_locals(f, &sweep.activity)?;
        sweep.forward(f.body, &need, true)?;
        sweep.reverse(f.body)?;
        let made = sweep.finish(Vec::new());
        overwrite::check(module, id, made, &self.repeated)
    }
}

/// Refuses arrays of the thread's own, with floats, where gradients flow: they would be lost there.
fn refuse_locals(f: &Function, activity: &Activity) -> Result<()> {
    let mut stack = vec![f.body];
    let mut found = None;
    let mut flows = false;
    while let Some(block) = stack.pop() {
        for &op in &f.block(block).ops {
            let data = f.op(op);
            stack.extend(&data.blocks);
            flows |= activity.is_active_op(op);
            if let OpKind::Local(_) = data.kind
                && f.ty(data.results[0]).as_array().is_some_and(|a| has_float(a.elem))
            {
                found = Some(data.span);
            }
        }
    }
    match found.filter(|_| flows) {
        Some(span) => Err(AdjointError::LocalArray(span)),
        None => Ok(()),
    }
}
