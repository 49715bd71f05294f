//! The reference evaluator: one lane at a time, one operation at a time.

use super::body::*;
use super::types::MemTy;
use half::{bf16, f16};
use std::fmt;

/// The memory that a body may touch: one region for each entry of its pointer table.
#[derive(Debug)]
pub struct Memory<'a, 'b> {
    regions: &'a mut [&'b mut [u8]],
}

impl<'a, 'b> Memory<'a, 'b> {
    /// The regions, in the order of the pointer table; addresses count from the start of each.
    pub fn new(regions: &'a mut [&'b mut [u8]]) -> Self {
        Memory { regions }
    }
}

/// What the evaluator refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// A load or store outside its region.
    OutOfBounds {
        /// Entry of the pointer table.
        pointer: usize,
        /// Offset from the start of the region, in bytes.
        offset: i64,
        /// Length of the region.
        len: usize,
    },
    /// Too few pointers or outer indices, or a body with inputs of its own.
    Arguments,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvalError::OutOfBounds {
                pointer,
                offset,
                len,
            } => {
                write!(
                    f,
                    "access to byte {offset} of region {pointer}, which has {len}"
                )
            }
            EvalError::Arguments => f.write_str("the arguments do not fit the body"),
        }
    }
}

impl std::error::Error for EvalError {}

impl Body {
    /// Runs the body for lanes `start..end`, as compiled code does. An empty range does nothing.
    ///
    /// # Errors
    /// If an access leaves its region, or arguments are missing.
    pub fn eval(
        &self,
        memory: &mut Memory<'_, '_>,
        outer: &[i64],
        start: i64,
        end: i64,
    ) -> Result<(), EvalError> {
        let enough = memory.regions.len() >= self.pointers.len() && outer.len() >= self.outer();
        if !enough {
            return Err(EvalError::Arguments);
        }
        if start >= end {
            return Ok(());
        }
        let mut lane = Lane::new(self, memory, outer);
        lane.block(BlockId::PROLOGUE)?;
        let width = self.accumulators();
        let accumulators: Vec<&Accumulator> = self
            .reductions
            .iter()
            .flat_map(|r| &r.accumulators)
            .collect();
        let mut states: Vec<Vec<u64>> = accumulators
            .iter()
            .map(|a| vec![lane.get(a.init); width])
            .collect();
        for i in start..end {
            let at = (i - start) as usize % width;
            lane.number = i;
            accumulators
                .iter()
                .zip(&states)
                .for_each(|(a, s)| lane.set(a.param, s[at]));
            lane.block(BlockId::LANES)?;
            accumulators
                .iter()
                .zip(&mut states)
                .for_each(|(a, s)| s[at] = lane.get(a.next));
        }
        let mut states = states.into_iter();
        for r in &self.reductions {
            let mut states: Vec<Vec<u64>> = states.by_ref().take(r.accumulators.len()).collect();
            let mut half = width / 2;
            while half > 0 {
                for j in 0..half {
                    for (a, s) in r.accumulators.iter().zip(&states) {
                        lane.set(a.pair.0, s[j]);
                        lane.set(a.pair.1, s[j + half]);
                    }
                    lane.block(r.combine)?;
                    r.accumulators
                        .iter()
                        .zip(&mut states)
                        .for_each(|(a, s)| s[j] = lane.get(a.combined));
                }
                half /= 2;
            }
            for (a, s) in r.accumulators.iter().zip(&states) {
                lane.write(a.ty, &a.dest, s[0])?;
            }
        }
        Ok(())
    }
}

struct Lane<'m, 'a, 'b> {
    body: &'m Body,
    memory: &'m mut Memory<'a, 'b>,
    outer: &'m [i64],
    number: i64,
    values: Vec<u64>,
    loops: Vec<i64>,
}

impl<'m, 'a, 'b> Lane<'m, 'a, 'b> {
    fn new(body: &'m Body, memory: &'m mut Memory<'a, 'b>, outer: &'m [i64]) -> Self {
        let (values, loops) = (vec![0; body.values.len()], vec![0; body.loops as usize]);
        Lane {
            body,
            memory,
            outer,
            number: 0,
            values,
            loops,
        }
    }

    fn get(&self, v: Value) -> u64 {
        self.values[v.index()]
    }

    fn set(&mut self, v: Value, bits: u64) {
        self.values[v.index()] = bits;
    }

    fn block(&mut self, id: BlockId) -> Result<(), EvalError> {
        let body = self.body;
        for stmt in &body.blocks[id.index()].stmts {
            match stmt {
                Stmt::Let(v) => {
                    let bits = self.inst(*v)?;
                    self.set(*v, bits);
                }
                Stmt::Store {
                    ty, addr, value, ..
                } => self.write(*ty, addr, self.get(*value))?,
                Stmt::For(f) => {
                    let trip = match f.trip {
                        Trip::Const(n) => n as i64,
                        Trip::Outer(k) => self.outer[k as usize],
                    };
                    self.copy(f.carries.iter().map(|c| (c.param, c.init)));
                    for i in 0..trip {
                        self.loops[f.id.index()] = i;
                        self.block(f.body)?;
                        self.copy(f.carries.iter().map(|c| (c.param, c.next)));
                    }
                    self.copy(f.carries.iter().map(|c| (c.result, c.param)));
                }
                Stmt::While(w) => {
                    self.copy(w.carries.iter().map(|c| (c.param, c.init)));
                    loop {
                        self.block(w.head)?;
                        if self.get(w.cond) == 0 {
                            break;
                        }
                        self.block(w.body)?;
                        self.copy(w.carries.iter().map(|c| (c.param, c.next)));
                    }
                    self.copy(w.carries.iter().map(|c| (c.result, c.param)));
                }
                Stmt::If(i) => {
                    let taken = self.get(i.cond) != 0;
                    self.block(if taken { i.then } else { i.otherwise })?;
                    self.copy(
                        i.arms
                            .iter()
                            .map(|a| (a.result, if taken { a.then } else { a.otherwise })),
                    );
                }
            }
        }
        Ok(())
    }

    /// Assigns all at once: (to, from).
    fn copy(&mut self, pairs: impl Iterator<Item = (Value, Value)>) {
        let read: Vec<(Value, u64)> = pairs.map(|(to, from)| (to, self.get(from))).collect();
        read.into_iter().for_each(|(to, bits)| self.set(to, bits));
    }

    fn inst(&mut self, v: Value) -> Result<u64, EvalError> {
        let ty = self.body.ty(v);
        Ok(match self.body.inst(v) {
            Inst::Const(bits) => *bits,
            Inst::Index(i) => self.index(*i) as u64 & ty.bit_mask(),
            Inst::Un(op, a) => op.eval(self.body.ty(*a), ty, self.get(*a)),
            Inst::Bin(op, a, b) => op.eval(self.body.ty(*a), self.get(*a), self.get(*b)),
            Inst::Ter(op, a, b, c) => op.eval(ty, self.get(*a), self.get(*b), self.get(*c)),
            Inst::Lookup(table, i) => table.get(self.get(*i)),
            Inst::Load(mem, addr) => self.read(*mem, addr)?,
            Inst::Carried | Inst::Result => {
                unreachable!("verified: {v} is no statement")
            }
        })
    }

    fn index(&self, index: Index) -> i64 {
        match index {
            Index::Lane => self.number,
            Index::Outer(k) => self.outer[k as usize],
            Index::Loop(id) => self.loops[id.index()],
        }
    }

    fn region(&mut self, addr: &Addr, size: i64) -> Result<&mut [u8], EvalError> {
        let mut offset = i128::from(addr.offset);
        let mut add = |index: i64, stride: i64| offset += i128::from(index) * i128::from(stride);
        addr.terms
            .iter()
            .for_each(|&(index, stride)| add(self.index(index), stride));
        match addr.lane {
            LaneStep::Uniform => {}
            LaneStep::Stride(s) => add(self.number, s),
            LaneStep::Gather(v, s) => add(super::op::signed(self.body.ty(v), self.get(v)), s),
        }
        let pointer = addr.pointer.index();
        let region = &mut *self.memory.regions[pointer];
        let len = region.len();
        let out = EvalError::OutOfBounds {
            pointer,
            offset: offset as i64,
            len,
        };
        let from = usize::try_from(offset).map_err(|_| out.clone())?;
        region
            .get_mut(from..from.saturating_add(size as usize))
            .ok_or(out)
    }

    fn read(&mut self, ty: MemTy, addr: &Addr) -> Result<u64, EvalError> {
        let bytes = self.region(addr, ty.size())?;
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(wide);
        Ok(match ty {
            MemTy::Bool => u64::from(bits != 0),
            MemTy::I8 => u64::from(bits as u8 as i8 as u32),
            MemTy::I16 => u64::from(bits as u16 as i16 as u32),
            MemTy::F16 => super::op::f32_bits(f16::from_bits(bits as u16).to_f32()),
            MemTy::Bf16 => super::op::f32_bits(bf16::from_bits(bits as u16).to_f32()),
            MemTy::U8 | MemTy::U16 | MemTy::I32 | MemTy::I64 | MemTy::F32 | MemTy::F64 => bits,
        })
    }

    fn write(&mut self, ty: MemTy, addr: &Addr, bits: u64) -> Result<(), EvalError> {
        let bits = match ty {
            MemTy::F16 => u64::from(f16::from_f32(super::op::f32_of(bits)).to_bits()),
            MemTy::Bf16 => u64::from(bf16::from_f32(super::op::f32_of(bits)).to_bits()),
            _ => bits,
        };
        let bytes = self.region(addr, ty.size())?;
        let size = bytes.len();
        bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        Ok(())
    }
}
