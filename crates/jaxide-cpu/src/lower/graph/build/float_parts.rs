//! `frexp` and `ldexp` on the bits of floats, as JAX writes them: subnormal numbers count as zero.

use super::super::{MapOp, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::{DType, Error, Result, Scalar};

/// The fields of a float's bits.
struct Parts {
    /// Unsigned integer type of the same width.
    uint: DType,
    mantissa_bits: u64,
    exponent_bits: u64,
    /// The bits.
    all: ValueId,
    /// The sign bit, in place.
    sign: ValueId,
    /// The exponent field, shifted down.
    exponent: ValueId,
    /// The mantissa field.
    mantissa: ValueId,
    /// Whether zero or subnormal.
    is_zero: ValueId,
    /// Whether infinite or NaN.
    is_special: ValueId,
}

impl Parts {
    fn bias(&self) -> i64 {
        (1 << (self.exponent_bits - 1)) - 1
    }
}

impl Build {
    /// Mantissa in [0.5, 1) and exponent.
    pub(super) fn frexp(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let x = self.value(app.args[0])?;
        let dtype = self.scope.dtype(x);
        let parts = self.float_parts(x)?;
        let half = self.uint(&parts, ((parts.bias() - 1) as u64) << parts.mantissa_bits)?;
        let normal = self.map(MapOp::Or, &[parts.sign, half], parts.uint);
        let normal = self.map(MapOp::Or, &[normal, parts.mantissa], parts.uint);
        let finite = self.map(
            MapOp::Select,
            &[parts.is_zero, normal, parts.sign],
            parts.uint,
        );
        let bits = self.map(
            MapOp::Select,
            &[parts.is_special, finite, parts.all],
            parts.uint,
        );
        let power = self.scope.convert(parts.exponent, DType::I32);
        let offset = self.scope.int(parts.bias() - 1, DType::I32, &[])?;
        let power = self.map(MapOp::Sub, &[power, offset], DType::I32);
        let none = self.scope.int(0, DType::I32, &[])?;
        let without = self.map(MapOp::Or, &[parts.is_zero, parts.is_special], DType::Bool);
        let power = self.map(MapOp::Select, &[without, power, none], DType::I32);
        let mantissa = self.bits_as(bits, dtype);
        Ok([mantissa, power].into_iter().map(Binding::Value).collect())
    }

    /// `x * 2**n`; a subnormal result is zero.
    pub(super) fn ldexp(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (x, mut n) = (args[0], args[1]);
        let dtype = self.scope.dtype(x);
        let parts = self.float_parts(x)?;
        let own = self.scope.dtype(n);
        if own.bits() < 32 {
            n = self.scope.convert(
                n,
                if own.is_signed_integer() {
                    DType::I32
                } else {
                    DType::U32
                },
            );
        }
        // Beyond this every number over- or underflows, and the sum below cannot wrap.
        let most = 1i64 << (parts.exponent_bits + 1);
        let n_type = self.scope.dtype(n);
        let low = self
            .scope
            .int(if own.is_signed_integer() { -most } else { 0 }, n_type, &[])?;
        let high = self.scope.int(most, n_type, &[])?;
        let n = self.map(MapOp::Clamp, &[low, n, high], n_type);
        let n = self.scope.convert(n, DType::I32);
        let exponent = self.scope.convert(parts.exponent, DType::I32);
        let exponent = self.map(MapOp::Add, &[exponent, n], DType::I32);
        let shift = self.uint(&parts, parts.mantissa_bits)?;
        let field = self.scope.convert(exponent, parts.uint);
        let field = self.map(MapOp::ShiftLeft, &[field, shift], parts.uint);
        let normal = self.map(MapOp::Or, &[parts.sign, field], parts.uint);
        let normal = self.map(MapOp::Or, &[normal, parts.mantissa], parts.uint);
        let top = (1u64 << parts.exponent_bits) - 1;
        let infinity = self.uint(&parts, top << parts.mantissa_bits)?;
        let infinity = self.map(MapOp::Or, &[parts.sign, infinity], parts.uint);
        let (zero, top) = (
            self.scope.int(0, DType::I32, &[])?,
            self.scope.int(top as i64, DType::I32, &[])?,
        );
        let under = self.map(MapOp::Le, &[exponent, zero], DType::Bool);
        let over = self.map(MapOp::Ge, &[exponent, top], DType::Bool);
        let scaled = self.map(MapOp::Select, &[over, normal, infinity], parts.uint);
        let scaled = self.map(MapOp::Select, &[under, scaled, parts.sign], parts.uint);
        let scaled = self.map(
            MapOp::Select,
            &[parts.is_zero, scaled, parts.sign],
            parts.uint,
        );
        let bits = self.map(
            MapOp::Select,
            &[parts.is_special, scaled, parts.all],
            parts.uint,
        );
        Ok(self.bits_as(bits, dtype))
    }

    fn uint(&mut self, parts: &Parts, value: u64) -> Result<ValueId> {
        self.scope.splat(Scalar::UInt(value), parts.uint, &[])
    }

    fn float_parts(&mut self, x: ValueId) -> Result<Parts> {
        let dtype = self.scope.dtype(x);
        let (exponent_bits, mantissa_bits) = match dtype {
            DType::F16 => (5, 10),
            DType::BF16 => (8, 7),
            DType::F32 => (8, 23),
            DType::F64 => (11, 52),
            other => {
                return Err(Error::dtype(format!(
                    "{other} is not a float of 16 to 64 bits"
                )));
            }
        };
        let uint = dtype
            .unsigned_of_same_size()
            .ok_or_else(|| Error::dtype(format!("{dtype} has no bits")))?;
        let constant =
            |build: &mut Build, value: u64| build.scope.splat(Scalar::UInt(value), uint, &[]);
        let all = self.bits_as(x, uint);
        let sign_mask = constant(self, 1 << (exponent_bits + mantissa_bits))?;
        let exponent_mask = constant(self, (1 << exponent_bits) - 1)?;
        let mantissa_mask = constant(self, (1 << mantissa_bits) - 1)?;
        let (shift, zero) = (constant(self, mantissa_bits)?, constant(self, 0)?);
        let shifted = self.map(MapOp::ShiftRightLogical, &[all, shift], uint);
        let exponent = self.map(MapOp::And, &[shifted, exponent_mask], uint);
        Ok(Parts {
            uint,
            mantissa_bits,
            exponent_bits,
            all,
            sign: self.map(MapOp::And, &[all, sign_mask], uint),
            exponent,
            mantissa: self.map(MapOp::And, &[all, mantissa_mask], uint),
            is_zero: self.map(MapOp::Eq, &[exponent, zero], DType::Bool),
            is_special: self.map(MapOp::Eq, &[exponent, exponent_mask], DType::Bool),
        })
    }
}
