//! The named parameters of a graph.

use super::BundleError;
use super::codec::{put_view, read_view};
use super::wire::{Reader, Writer};
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
