//! A function while it is emitted: the parts of its values, and how they are used.

use std::collections::HashMap;
use std::rc::Rc;

use inkle_ir::{Block, Function, Module, Value};

use super::check::Subject;
use super::{Lower, Result, array, memory_order};
use crate::error::CodegenError;
use crate::uniformity::Uniformity;
use crate::value::{Parts, Val};

/// One function in the course of being emitted.
pub(crate) struct Frame<'m> {
    pub function: &'m Function,
    pub uniformity: Rc<Uniformity>,
    /// Per value: whether any operation takes it.
    used: Rc<Vec<bool>>,
    /// Per value: how many operations take it, if all do the same to all its parts.
    alike: Rc<Vec<Option<u32>>>,
    /// Per array of several dimensions: one more than the largest constant that is the last index.
    row_lengths: Rc<HashMap<Value, u32>>,
    values: Vec<Option<Parts>>,
    /// Per parameter what reports call it; empty in code that reports nothing.
    pub subjects: Vec<Subject>,
}

impl Frame<'_> {
    /// Whether any operation takes a value.
    pub fn is_used(&self, value: Value) -> bool {
        self.used[value.index()]
    }

    /// How many operations take a value, if all do the same to all its parts.
    pub fn uses_alike(&self, value: Value) -> Option<u32> {
        self.alike[value.index()]
    }

    /// How long an array's rows seem to be, by the constants that index them; zero if none do.
    pub fn row_length(&self, array: Value) -> u32 {
        self.row_lengths.get(&array).copied().unwrap_or(0)
    }

    pub fn get(&self, value: Value) -> Result<&Parts> {
        self.values[value.index()]
            .as_ref()
            .ok_or_else(|| CodegenError::broken(format!("{value} is used where it is not defined")))
    }

    /// The only part of a scalar value.
    pub fn get1(&self, value: Value) -> Result<Val> {
        match self.get(value)?.as_slice() {
            [only] => Ok(*only),
            other => Err(CodegenError::broken(format!("{value} has {} parts, expected one", other.len()))),
        }
    }

    pub fn set(&mut self, value: Value, parts: Parts) {
        self.values[value.index()] = Some(parts);
    }
}

impl<'m> Lower<'_, 'm> {
    /// A frame for function `index` with its parameters bound.
    pub fn frame(&mut self, index: usize, args: Vec<Parts>, subjects: Vec<Subject>) -> Frame<'m> {
        let ir: &'m Module = self.ir;
        let function = &ir.functions[index];
        let varying: Vec<bool> = args.iter().map(|parts| parts.iter().any(|p| !p.is_uniform())).collect();
        let uniformity = self.analyser.function(index, &varying);
        let used = self.used.entry(index).or_insert_with(|| Rc::new(used_values(function))).clone();
        let alike = self.alike.entry(index).or_insert_with(|| Rc::new(memory_order::uses_alike(function)));
        let alike = alike.clone();
        let row_lengths =
            self.row_lengths.entry(index).or_insert_with(|| Rc::new(array::row_lengths(function))).clone();
        let values = vec![None; function.value_count()];
        let mut frame = Frame { function, uniformity, used, alike, row_lengths, values, subjects };
        for (&param, parts) in function.block(function.body).params.iter().zip(args) {
            frame.set(param, parts);
        }
        frame
    }
}

/// Per value of a function: whether an operation in a block takes it.
pub(super) fn used_values(function: &Function) -> Vec<bool> {
    let mut used = vec![false; function.value_count()];
    for block in 0..function.block_count() {
        for &op in &function.block(Block::new(block)).ops {
            for v in &function.op(op).operands {
                used[v.index()] = true;
            }
        }
    }
    used
}
