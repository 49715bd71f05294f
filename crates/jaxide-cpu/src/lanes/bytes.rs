//! Bodies of which a byte of each lane is enough.
//!
//! Images and truth values are bytes in memory, and a vector has four times as many of them as lanes of 32 bits. A body that loads nothing else,
//! whose lanes follow each other, is run on bytes if the lowest byte of each value tells all that is asked of it. Sums and bitwise operations ask for
//! no more than the bytes of their operands; comparisons, extrema and shifts to the right must know what the other bits are: copies of the
//! byte's sign, or zeros.

use super::body::*;
use super::op::{BinOp, TerOp, UnOp};
use super::types::{MemTy, Ty};

/// The shift that takes the lowest byte of a lane to its top, and back.
pub(crate) const TO_THE_TOP: u64 = 24;

/// What the lowest byte of a value says of the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Extends {
    /// The value is the byte with zeros before it.
    zeros: bool,
    /// The value is the byte with copies of its highest bit before it.
    sign: bool,
}

/// What stands in for a value where there are bytes alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Byte {
    /// Its lowest byte; of a mask, the mask.
    Low(Extends),
    /// The lowest byte of what was [shifted](TO_THE_TOP), for the shift back.
    Top,
}

impl Body {
    /// The body with operations that are the same on bytes, if there is one: operations on signed numbers that are not negative have become those on
    /// unsigned ones.
    pub(crate) fn on_bytes(&self) -> Option<Body> {
        let stmts = self.blocks.iter().flat_map(|block| &block.stmts);
        let mut stores = stmts.filter_map(|stmt| match stmt {
            Stmt::Store { ty, .. } => Some(*ty),
            Stmt::Let(_) | Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => None,
        });
        // Most bodies store something else.
        if self.guarded.is_some() || !stores.all(is_byte) || self.is_wide() {
            return None;
        }
        // Truth values are combined as they are.
        let mut accumulators = self.reductions.iter().flat_map(|r| &r.accumulators);
        if !accumulators.all(|a| a.ty == MemTy::Bool && self.ty(a.init) == Ty::Mask) {
            return None;
        }
        let mut bytes = OnBytes {
            known: vec![None; self.values.len()],
            body: self.clone(),
            fits: true,
        };
        let combined = self.reductions.iter().flat_map(|r| &r.accumulators);
        for v in combined.flat_map(|a| [a.param, a.pair.0, a.pair.1]) {
            bytes.known[v.index()] = Some(Byte::Low(Extends::default()));
        }
        let combines = self.reductions.iter().map(|r| r.combine);
        for block in [BlockId::PROLOGUE, BlockId::LANES]
            .into_iter()
            .chain(combines)
        {
            bytes.block(block);
        }
        bytes.fits.then_some(bytes.body)
    }
}

struct OnBytes {
    known: Vec<Option<Byte>>,
    body: Body,
    fits: bool,
}

impl OnBytes {
    fn block(&mut self, block: BlockId) {
        let stmts = std::mem::take(&mut self.body.blocks[block.index()].stmts);
        for stmt in &stmts {
            if self.fits {
                self.fits = self.stmt(stmt);
            }
        }
        self.body.blocks[block.index()].stmts = stmts;
    }

    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(v) => {
                let byte = self.value(*v);
                self.known[v.index()] = byte;
                byte.is_some()
            }
            Stmt::Store { ty, addr, value } => {
                is_byte(*ty) && addr.lane == LaneStep::Stride(1) && self.low(*value).is_some()
            }
            Stmt::For(f) => {
                for c in &f.carries {
                    for v in [c.param, c.result] {
                        self.known[v.index()] = Some(Byte::Low(Extends::default()));
                    }
                }
                self.block(f.body);
                let low = |c: &Carry| self.low(c.init).and(self.low(c.next)).is_some();
                self.fits && f.carries.iter().all(low)
            }
            Stmt::While(_) | Stmt::If(_) => false,
        }
    }

    fn low(&self, v: Value) -> Option<Extends> {
        match self.known[v.index()]? {
            Byte::Low(extends) => Some(extends),
            Byte::Top => None,
        }
    }

    /// What stands in for a value whose definition is reached, which may become another with the same result.
    fn value(&mut self, v: Value) -> Option<Byte> {
        let ty = self.body.ty(v);
        if ty.is_float() {
            return None;
        }
        let mask = ty == Ty::Mask;
        let inst = self.body.inst(v).clone();
        let extends = match inst {
            Inst::Const(_) if mask => Extends::default(),
            Inst::Const(bits) => number(bits as u32 as i32),
            Inst::Load(ty, addr) => {
                let near = matches!(addr.lane, LaneStep::Uniform | LaneStep::Stride(1));
                if !near || !is_byte(ty) {
                    return None;
                }
                Extends {
                    zeros: ty == MemTy::U8,
                    sign: ty == MemTy::I8,
                }
            }
            Inst::Un(op, a) => self.un(op, self.low(a)?)?,
            Inst::Bin(op, a, b) => return self.bin(v, op, a, b),
            Inst::Ter(TerOp::Select, c, a, b) => {
                self.low(c)?;
                both(self.low(a)?, self.low(b)?)
            }
            Inst::Ter(TerOp::Fma, ..)
            | Inst::Lookup(..)
            | Inst::Index(_)
            | Inst::Carried
            | Inst::Result => return None,
        };
        Some(Byte::Low(extends))
    }

    fn un(&self, op: UnOp, a: Extends) -> Option<Extends> {
        match op {
            UnOp::Not => Some(Extends {
                zeros: false,
                sign: a.sign,
            }),
            UnOp::Neg => Some(Extends::default()),
            // Of the least number too, without a sign.
            UnOp::Abs => a.sign.then_some(Extends {
                zeros: true,
                sign: false,
            }),
            UnOp::Sqrt
            | UnOp::Floor
            | UnOp::Ceil
            | UnOp::RoundEven
            | UnOp::Trunc
            | UnOp::Clz
            | UnOp::Popcount
            | UnOp::SToF
            | UnOp::UToF
            | UnOp::FToS
            | UnOp::FToU
            | UnOp::FToF
            | UnOp::SExt
            | UnOp::ZExt
            | UnOp::Low
            | UnOp::Bitcast
            | UnOp::RoundF16
            | UnOp::RoundBf16 => None,
        }
    }

    fn bin(&mut self, v: Value, op: BinOp, a: Value, b: Value) -> Option<Byte> {
        use BinOp::*;
        if self.body.ty(a) == Ty::Mask {
            self.low(a)?;
            self.low(b)?;
            return matches!(op, And | Or | Xor).then_some(Byte::Low(Extends::default()));
        }
        if matches!(op, Shl | ShrS | ShrU) {
            return self.shift(v, op, a, b);
        }
        let (x, y) = (self.low(a)?, self.low(b)?);
        let alike = both(x, y);
        let extends = match op {
            Add | Sub => Extends::default(),
            And => {
                let few = |e: Extends| e.zeros && e.sign;
                Extends {
                    zeros: x.zeros || y.zeros,
                    sign: alike.sign || few(x) || few(y),
                }
            }
            Or | Xor => alike,
            MinS | MaxS | MinU | MaxU | Eq | Ne | Lt | Le | LtU | LeU => {
                // Extended by signs, numbers have the order of their bytes without signs too.
                if alike == Extends::default() {
                    return None;
                }
                if alike.zeros {
                    let unsigned = match op {
                        MinS => MinU,
                        MaxS => MaxU,
                        Lt => LtU,
                        Le => LeU,
                        other => other,
                    };
                    self.body.values[v.index()].inst = Inst::Bin(unsigned, a, b);
                }
                alike
            }
            Mul | Div | Min | Max | PickLt | PickGt | Scale | ScaleNormal | DivS | DivU | RemS
            | RemU | MulHiS | MulHiU | Shl | ShrS | ShrU => return None,
        };
        Some(Byte::Low(extends))
    }

    /// A shift by a constant, inside of the byte or between both ends of the lane.
    fn shift(&mut self, v: Value, op: BinOp, a: Value, count: Value) -> Option<Byte> {
        let Inst::Const(count) = *self.body.inst(count) else {
            return None;
        };
        let known = self.known[a.index()]?;
        let Byte::Low(extends) = known else {
            let right = op != BinOp::Shl && count == TO_THE_TOP;
            return right.then_some(Byte::Low(Extends {
                zeros: op == BinOp::ShrU,
                sign: op == BinOp::ShrS,
            }));
        };
        match op {
            BinOp::Shl if count == TO_THE_TOP => return Some(Byte::Top),
            _ if count >= 8 => return None,
            BinOp::Shl => return Some(Byte::Low(Extends::default())),
            _ => {}
        }
        if extends.zeros {
            let Inst::Bin(_, a, by) = *self.body.inst(v) else {
                return None;
            };
            self.body.values[v.index()].inst = Inst::Bin(BinOp::ShrU, a, by);
        }
        let sign = extends.zeros && count > 0 || extends.sign;
        let zeros = extends.zeros;
        (zeros || op == BinOp::ShrS && sign).then_some(Byte::Low(Extends { zeros, sign }))
    }
}

fn both(a: Extends, b: Extends) -> Extends {
    Extends {
        zeros: a.zeros && b.zeros,
        sign: a.sign && b.sign,
    }
}

fn number(x: i32) -> Extends {
    Extends {
        zeros: u8::try_from(x).is_ok(),
        sign: i8::try_from(x).is_ok(),
    }
}

fn is_byte(ty: MemTy) -> bool {
    ty.size() == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Builder};

    /// Whether a body that stores what is made of two loaded elements is run on bytes.
    fn fits(
        (x, y): (MemTy, MemTy),
        to: MemTy,
        f: impl FnOnce(&mut Builder, Value, Value) -> Value,
    ) -> bool {
        let mut b = Builder::new("two");
        let [p, q] = [(); 2].map(|()| b.pointer(Access::ReadOnly));
        let (v, w) = (
            b.load(x, Addr::contiguous(p, x)),
            b.load(y, Addr::contiguous(q, y)),
        );
        let v = f(&mut b, v, w);
        let r = b.pointer(Access::ReadWrite);
        b.store(to, Addr::contiguous(r, to), v);
        b.finish().unwrap().on_bytes().is_some()
    }

    #[test]
    fn what_a_byte_tells() {
        use MemTy::{Bool, I8, U8, U16};
        let (unsigned, signed) = ((U8, U8), (I8, I8));
        assert!(fits(unsigned, U8, |b, x, y| b.add(x, y)));
        assert!(fits(signed, Bool, |b, x, y| b.lt(x, y)));
        assert!(fits(unsigned, Bool, |b, x, y| b.lt(x, y)));
        assert!(fits((U8, Bool), U8, |b, x, m| {
            let zero = b.i32(0);
            b.select(m, x, zero)
        }));
        // A sum is compared once it is a byte again.
        let sum = |low: Option<i32>| {
            move |b: &mut Builder, x: Value, y: Value| {
                let mut sum = b.add(x, y);
                if let Some(low) = low {
                    let low = b.i32(low);
                    sum = b.and(sum, low);
                }
                b.lt(x, sum)
            }
        };
        assert!(!fits(unsigned, Bool, sum(None)));
        assert!(fits(unsigned, Bool, sum(Some(255))));
        assert!(!fits(unsigned, Bool, sum(Some(511))));
        // The order of numbers with signs among numbers without.
        assert!(!fits((U8, I8), Bool, |b, x, y| b.lt(x, y)));
        assert!(!fits((U16, U16), U8, |b, x, y| b.add(x, y)));
        assert!(!fits(unsigned, U8, |b, x, y| b.mul(x, y)));
    }
}
