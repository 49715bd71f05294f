//! Places of values.

use super::{Assembler, Storage};
use crate::lower::graph::ValueId;
use crate::lower::program::{Base, LoopVar, Place, PointerVar};
use crate::narrow;
use jaxide_core::{Error, ErrorKind, Result};

impl Assembler<'_> {
    /// Where a stored value is.
    pub(super) fn place(&self, value: ValueId) -> Result<Place> {
        if let Some(place) = self.places.get(&value) {
            return Ok(place.clone());
        }
        match self.storage(value) {
            Some(Storage::Alias { of, offset }) => Ok(self.place(*of)?.plus(*offset as i64)),
            Some(Storage::Own) | None => {
                let op = self
                    .graph
                    .op(value)
                    .map_or_else(|| "parameter".to_owned(), ToString::to_string);
                Err(Error::new(
                    ErrorKind::Internal,
                    format!("{value} ({op}) has no place"),
                ))
            }
        }
    }

    /// Where a value that is made now goes: where it is wanted, else to a new temporary.
    pub(super) fn place_or_new(&mut self, value: ValueId) -> Place {
        if let Some(place) = self.places.get(&value) {
            return place.clone();
        }
        let place = self.new_temp(self.graph.value(value).bytes());
        self.places.insert(value, place.clone());
        place
    }

    pub(super) fn new_temp(&mut self, bytes: usize) -> Place {
        self.program.temps.push(bytes);
        Place::at(Base::Temp(narrow(self.program.temps.len() - 1)))
    }

    pub(super) fn new_loop(&mut self) -> LoopVar {
        self.program.loops += 1;
        LoopVar(self.program.loops - 1)
    }

    pub(super) fn new_pointer(&mut self) -> PointerVar {
        self.program.pointers += 1;
        PointerVar(self.program.pointers - 1)
    }
}
