//! `frexp` and `ldexp` on the bits of floats, as JAX writes them: subnormal numbers count as zero.

use super::super::{MapOp, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::{DType, Error, Result, Scalar};

/// The fields of a float's bits.
struct Fields {
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

impl Fields {
    fn bias(&self) -> i64 {
        (1 << (self.exponent_bits - 1)) - 1
    }
}

impl Build {
    /// Mantissa in [0.5, 1) and exponent.
    pub(super) fn frexp(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let x = self.value(app.args[0])?;
        let dtype = self.scope.dtype(x);
        let fields = self.float_fields(x)?;
        let half = self.uint(
            &fields,
            ((fields.bias() - 1) as u64) << fields.mantissa_bits,
        )?;
        let normal = self.map(MapOp::Or, &[fields.sign, half], fields.uint);
        let normal = self.map(MapOp::Or, &[normal, fields.mantissa], fields.uint);
        let finite = self.map(
            MapOp::Select,
            &[fields.is_zero, normal, fields.sign],
            fields.uint,
        );
        let bits = self.map(
            MapOp::Select,
            &[fields.is_special, finite, fields.all],
            fields.uint,
        );
        let power = self.scope.convert(fields.exponent, DType::I32);
        let offset = self.scope.int(fields.bias() - 1, DType::I32, &[])?;
        let power = self.map(MapOp::Sub, &[power, offset], DType::I32);
        let none = self.scope.int(0, DType::I32, &[])?;
        let without = self.map(MapOp::Or, &[fields.is_zero, fields.is_special], DType::Bool);
        let power = self.map(MapOp::Select, &[without, power, none], DType::I32);
        let mantissa = self.bits_as(bits, dtype);
        Ok([mantissa, power].into_iter().map(Binding::Value).collect())
    }

    /// `x * 2**n`; a subnormal result is zero.
    pub(super) fn ldexp(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (x, mut n) = (args[0], args[1]);
        let dtype = self.scope.dtype(x);
        let fields = self.float_fields(x)?;
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
        let most = 1i64 << (fields.exponent_bits + 1);
        let n_type = self.scope.dtype(n);
        let low = self
            .scope
            .int(if own.is_signed_integer() { -most } else { 0 }, n_type, &[])?;
        let high = self.scope.int(most, n_type, &[])?;
        let n = self.map(MapOp::Clamp, &[low, n, high], n_type);
        let n = self.scope.convert(n, DType::I32);
        let exponent = self.scope.convert(fields.exponent, DType::I32);
        let exponent = self.map(MapOp::Add, &[exponent, n], DType::I32);
        let shift = self.uint(&fields, fields.mantissa_bits)?;
        let field = self.scope.convert(exponent, fields.uint);
        let field = self.map(MapOp::ShiftLeft, &[field, shift], fields.uint);
        let normal = self.map(MapOp::Or, &[fields.sign, field], fields.uint);
        let normal = self.map(MapOp::Or, &[normal, fields.mantissa], fields.uint);
        let top = (1u64 << fields.exponent_bits) - 1;
        let infinity = self.uint(&fields, top << fields.mantissa_bits)?;
        let infinity = self.map(MapOp::Or, &[fields.sign, infinity], fields.uint);
        let (zero, top) = (
            self.scope.int(0, DType::I32, &[])?,
            self.scope.int(top as i64, DType::I32, &[])?,
        );
        let under = self.map(MapOp::Le, &[exponent, zero], DType::Bool);
        let over = self.map(MapOp::Ge, &[exponent, top], DType::Bool);
        let scaled = self.map(MapOp::Select, &[over, normal, infinity], fields.uint);
        let scaled = self.map(MapOp::Select, &[under, scaled, fields.sign], fields.uint);
        let scaled = self.map(
            MapOp::Select,
            &[fields.is_zero, scaled, fields.sign],
            fields.uint,
        );
        let bits = self.map(
            MapOp::Select,
            &[fields.is_special, scaled, fields.all],
            fields.uint,
        );
        Ok(self.bits_as(bits, dtype))
    }

    fn uint(&mut self, fields: &Fields, value: u64) -> Result<ValueId> {
        self.scope.splat(Scalar::UInt(value), fields.uint, &[])
    }

    fn float_fields(&mut self, x: ValueId) -> Result<Fields> {
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
        Ok(Fields {
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
