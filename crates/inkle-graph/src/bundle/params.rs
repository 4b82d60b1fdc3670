//! The named parameters of a graph.

use super::codec::{put_view, read_view};
use super::wire::{Reader, Writer};
use super::{Bundle, BundleError};
use crate::ops::View;

/// What a parameter is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// Set before the graph runs.
    Input,
    /// Read after it ran.
    Output,
}

/// A named part of a graph's memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub direction: Direction,
    /// Where it is, its element type and its shape.
    pub view: View,
}

impl Bundle {
    /// Leaves the parameters that are named, in the order given: each as its name in the bundle and the one it gets.
    ///
    /// # Errors
    /// [`BundleError::NoParameter`] if there is none of a name and a direction; [`BundleError::SameName`] if two would be
    /// named the same. The bundle is then as before.
    pub fn select_params(
        &mut self,
        inputs: &[(String, String)],
        outputs: &[(String, String)],
    ) -> Result<(), BundleError> {
        let mut selected: Vec<Param> = Vec::with_capacity(inputs.len() + outputs.len());
        for (direction, names) in [(Direction::Input, inputs), (Direction::Output, outputs)] {
            for (old, new) in names {
                let there = || self.params.iter().filter(|param| param.direction == direction);
                let Some(param) = there().find(|param| param.name == *old) else {
                    let there = there().map(|param| param.name.clone()).collect();
                    return Err(BundleError::NoParameter { name: old.clone(), there });
                };
                if selected.iter().any(|other| other.name == *new) {
                    return Err(BundleError::SameName { name: new.clone() });
                }
                selected.push(Param { name: new.clone(), ..param.clone() });
            }
        }
        self.params = selected;
        Ok(())
    }
}

pub(super) fn encode(params: &[Param]) -> Vec<u8> {
    let mut writer = Writer::default();
    writer.list(params, |writer, param| {
        writer.text(&param.name);
        writer.u8(u8::from(param.direction == Direction::Output));
        put_view(writer, &param.view);
    });
    writer.bytes
}

pub(super) fn decode(bytes: &[u8]) -> Result<Vec<Param>, BundleError> {
    let mut reader = Reader::new("list of parameters", bytes);
    let params = reader.list(20, |reader| {
        let name = reader.text()?;
        let direction = if reader.flag()? { Direction::Output } else { Direction::Input };
        Ok(Param { name, direction, view: read_view(reader)? })
    })?;
    reader.end()?;
    Ok(params)
}
