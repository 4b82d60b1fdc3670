//! The functions of the backward module: what they are made from, each made once.

use inkle_ir::{Function, FunctionId, Module, Param, Value};
use rustc_hash::FxHashMap;

use crate::activity::{Activity, Info, Summaries};
use crate::overwrite;
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
}

/// Makes the functions of the backward module.
pub(crate) struct Driver<'m> {
    pub module: &'m Module,
    pub out: Module,
    summaries: Summaries,
    replays: FxHashMap<FunctionId, FunctionId>,
    adjoints: FxHashMap<Key, Adjoint>,
}

impl<'m> Driver<'m> {
    pub fn new(module: &'m Module) -> Driver<'m> {
        Driver {
            module,
            out: Module::default(),
            summaries: Summaries::default(),
            replays: FxHashMap::default(),
            adjoints: FxHashMap::default(),
        }
    }

    fn push(&mut self, function: Function) -> FunctionId {
        self.out.functions.push(function);
        FunctionId::new(self.out.functions.len() - 1)
    }

    /// The function without its effects: what it gives, and nothing else.
    pub fn replay(&mut self, id: FunctionId) -> Result<FunctionId> {
        if let Some(&known) = self.replays.get(&id) {
            return Ok(known);
        }
        let f = self.module.function(id);
        let results = vec![false; f.results.len()];
        let nothing: Vec<Info> = f.params.iter().map(|p| Info::nothing(p.ty)).collect();
        let activity = Activity::new(self.module, f, &mut self.summaries, &nothing, &results);
        let mut sweep = Sweep::new(self, id, activity, f.name.clone(), Vec::new(), f.results.clone());
        let returned = sweep.yielded(f.body);
        let need = sweep.needs.closure(returned.iter().copied());
        sweep.forward(f.body, &need, false)?;
        let returned: Vec<Value> = returned.iter().map(|&v| sweep.primal(v)).collect();
        let function = sweep.finish(returned);
        let made = self.push(function);
        self.replays.insert(id, made);
        Ok(made)
    }

    /// The adjoint function for a call with these arguments, when the gradients of `results` are given.
    pub fn adjoint(&mut self, id: FunctionId, params: &[Info], results: &[bool]) -> Result<Adjoint> {
        let key = Key { function: id, params: params.to_vec(), results: results.to_vec() };
        if let Some(known) = self.adjoints.get(&key) {
            return Ok(known.clone());
        }
        let f = self.module.function(id);
        let activity = Activity::new(self.module, f, &mut self.summaries, params, results);
        let values = f.block(f.body).params.clone();
        let given: Vec<usize> = (0..values.len()).filter(|&i| activity.is_active(values[i])).collect();
        let types = given.iter().map(|&i| f.params[i].ty).collect();
        let wanted: Vec<usize> = (0..results.len()).filter(|&i| results[i]).collect();
        let more = wanted.iter().map(|&i| Param { name: format!("adj_{i}"), ty: f.results[i] }).collect();
        let name = format!("{}.adjoint{}", f.name, self.adjoints.len());
        let mut sweep = Sweep::new(self, id, activity, name, more, types);
        let need = sweep.need(f.body);
        overwrite::check(f, sweep.needs.known())?;
        sweep.forward(f.body, &need, true)?;
        let returned = sweep.yielded(f.body);
        let first = f.params.len();
        for (position, &i) in wanted.iter().enumerate() {
            let gradient = sweep.out.block(sweep.out.body).params[first + position];
            sweep.accumulate(returned[i], gradient);
        }
        sweep.reverse(f.body)?;
        let mut gradients = Vec::new();
        for &i in &given {
            gradients.push(sweep.take_or_zero(values[i]));
        }
        let function = sweep.finish(gradients);
        let made = Adjoint { id: self.push(function), params: given };
        self.adjoints.insert(key, made.clone());
        Ok(made)
    }

    /// The backward kernel.
    pub fn kernel(&mut self, params: &[Info]) -> Result<()> {
        let id = FunctionId::new(self.module.functions.len() - 1);
        let f = self.module.function(id);
        let activity = Activity::new(self.module, f, &mut self.summaries, params, &[]);
        let mut sweep =
            Sweep::new(self, id, activity, format!("{}.backward", f.name), Vec::new(), Vec::new());
        let need = sweep.need(f.body);
        overwrite::check(f, sweep.needs.known())?;
        sweep.forward(f.body, &need, true)?;
        sweep.reverse(f.body)?;
        let function = sweep.finish(Vec::new());
        self.push(function);
        Ok(())
    }
}
