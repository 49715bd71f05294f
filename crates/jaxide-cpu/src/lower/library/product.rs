//! Products of arrays over contracted axes.

use super::elements::{Class, convert, meaningless};
use super::operands::Operands;
use super::routine::{Outcome, routine};
use crate::runtime::matmul::{BrainDot, DotDimensions, DotGeneral, PairedDot, Truth};
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use crate::runtime::matmul::{Otherwise, unit_dot};
use crate::runtime::{Context, KernelCall, PoolBuffer, View};
use jaxide_core::prims::{self, DotDimensionNumbers};
use jaxide_core::{DType, Error, Result};
use num_complex::Complex;

type Call = Result<Box<KernelCall>>;

/// `dot_general`; the element type of the result is that of the result operand.
pub(super) fn dot_general(operands: &Operands, params: &prims::DotGeneral) -> Call {
    let [lhs, rhs] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    let dtype = operands.outputs[0].dtype;
    let (left, right) = (View::dense(&lhs.shape), View::dense(&rhs.shape));
    let dimensions = dimensions(&params.dimension_numbers);
    if lhs.dtype == rhs.dtype
        && let Some(call) = native((lhs.dtype, dtype), &left, &right, &dimensions)
    {
        return Ok(call);
    }
    let product = Product::new((lhs.dtype, &left), (rhs.dtype, &right), &dimensions, dtype)?;
    Ok(routine(operands, move |buffers, context| {
        let (lhs, rhs) = (buffers.input(0), buffers.input(1));
        product.run(lhs, rhs, buffers.output(0), context)
    }))
}

fn dimensions(numbers: &DotDimensionNumbers) -> DotDimensions {
    DotDimensions {
        lhs_contracting: numbers.lhs_contracting.to_vec(),
        rhs_contracting: numbers.rhs_contracting.to_vec(),
        lhs_batch: numbers.lhs_batch.to_vec(),
        rhs_batch: numbers.rhs_batch.to_vec(),
    }
}

/// The product of arrays of the first type, summed in the second, or in `f32` where that has 16 bits; `None` where it is not
/// computed so.
pub(super) fn native(
    dtypes: (DType, DType),
    lhs: &View,
    rhs: &View,
    dimensions: &DotDimensions,
) -> Option<Box<KernelCall>> {
    macro_rules! of {
        ($($T:ty),*) => {
            KernelCall::new(DotGeneral::<$($T),*>::new(lhs, rhs, dimensions))
        };
    }
    // What the matrix unit of a processor multiplies, and where there is none, this.
    macro_rules! on_unit {
        ($In:ty => $Out:ty, $kernel:ty, $lanes:literal, $conversion:literal) => {{
            let kernel = || <$kernel>::new(lhs, rhs, dimensions);
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            let cost = Otherwise {
                lanes: $lanes,
                conversion: $conversion,
            };
            #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
            if let Some(kernel) =
                unit_dot::<$In, $Out>(lhs, rhs, dimensions, cost, || Box::new(kernel()))
            {
                return Some(KernelCall::new(kernel));
            }
            KernelCall::new(kernel())
        }};
    }
    let dtype = match dtypes {
        (DType::F16, DType::F32) => return Some(of!(half::f16, f32)),
        (DType::BF16, DType::F32) => {
            return Some(on_unit!(half::bf16 => f32, BrainDot<f32>, 16, 100));
        }
        (DType::F32, DType::F64) => return Some(of!(f32, f64)),
        (DType::I8, DType::I32) => {
            return Some(on_unit!(i8 => i32, PairedDot<i8, i32>, 32, 400));
        }
        (DType::U8, DType::I32) => {
            return Some(on_unit!(u8 => i32, PairedDot<u8, i32>, 32, 400));
        }
        (DType::I16, DType::I32) => {
            return Some(KernelCall::new(PairedDot::<i16, i32>::new(
                lhs, rhs, dimensions,
            )));
        }
        (DType::I32, DType::I64) => return Some(of!(i32, i64)),
        (operands, result) if operands == result => result,
        _ => return None,
    };
    Some(match dtype {
        DType::Bool => on_unit!(Truth => Truth, DotGeneral<Truth>, 64, 0),
        // Where there are a few terms, wider ones are no gain.
        DType::I8 | DType::U8 if DotGeneral::<i8>::new(lhs, rhs, dimensions).is_tiny() => of!(i8),
        // Products that wrap around have the same bits whether they have signs or not.
        DType::I8 | DType::U8 => on_unit!(i8 => i8, DotGeneral<i8, i16, i8>, 32, 50),
        DType::I16 | DType::U16 => of!(i16),
        DType::I32 | DType::U32 => of!(i32),
        DType::I64 | DType::U64 => of!(i64),
        DType::F32 => of!(f32),
        DType::F64 => of!(f64),
        DType::C64 => of!(Complex<f32>),
        DType::C128 => of!(Complex<f64>),
        DType::F16 => of!(half::f16, f32, half::f16),
        DType::BF16 => {
            on_unit!(half::bf16 => half::bf16, BrainDot<half::bf16>, 16, 100)
        }
        _ => return None,
    })
}

/// The type that products of elements of two types are summed in, for a result of a third.
pub(super) fn working_type(lhs: DType, rhs: DType, result: DType) -> Result<DType> {
    let types = [lhs, rhs, result];
    let wide = |dtype: &DType| {
        matches!(
            dtype,
            DType::F64 | DType::C128 | DType::I32 | DType::U32 | DType::I64 | DType::U64
        )
    };
    if let Some(&opaque) = types
        .iter()
        .find(|&&dtype| Class::of(dtype) == Class::Opaque)
    {
        return Err(meaningless(opaque));
    }
    Ok(
        match (Class::of(lhs).with(Class::of(rhs)), types.iter().any(wide)) {
            (Class::Complex, true) => DType::C128,
            (Class::Complex, false) => DType::C64,
            (Class::Real, true) => DType::F64,
            (Class::Real, false) => DType::F32,
            (Class::Integer | Class::Opaque, _)
                if Class::of(result) == Class::Integer && result.bits() <= 32 =>
            {
                DType::I32
            }
            (Class::Integer | Class::Opaque, _) => DType::I64,
        },
    )
}

/// A bilinear kernel with conversions around it.
pub(super) struct Product {
    lhs: DType,
    rhs: DType,
    working: DType,
    result: DType,
    call: Box<KernelCall>,
}

impl Product {
    /// Of two views, with sums in the working type of the three element types.
    pub(super) fn new(
        (lhs, left): (DType, &View),
        (rhs, right): (DType, &View),
        dimensions: &DotDimensions,
        result: DType,
    ) -> Result<Self> {
        Self::around((lhs, rhs, result), |working| {
            native((working, working), left, right, dimensions)
        })
    }

    /// Around the kernel that is made for the working type of the three element types.
    pub(super) fn around(
        (lhs, rhs, result): (DType, DType, DType),
        native: impl FnOnce(DType) -> Option<Box<KernelCall>>,
    ) -> Result<Self> {
        let working = working_type(lhs, rhs, result)?;
        let call = native(working).ok_or_else(|| meaningless(working))?;
        Ok(Product {
            lhs,
            rhs,
            working,
            result,
            call,
        })
    }

    pub(super) fn run(
        &self,
        lhs: &[u8],
        rhs: &[u8],
        out: &mut [u8],
        context: &Context<'_>,
    ) -> Outcome {
        let lhs = Converted::new(self.lhs, lhs, self.working)?;
        let rhs = Converted::new(self.rhs, rhs, self.working)?;
        let inputs = [lhs.bytes(), rhs.bytes()];
        if self.result == self.working {
            return self.call.call(&inputs, &mut [out], context);
        }
        let mut sums = PoolBuffer::new(self.call.signature().outputs[0])?;
        self.call.call(&inputs, &mut [sums.bytes_mut()], context)?;
        convert(self.working, sums.bytes(), self.result, out);
        Ok(())
    }
}

/// Elements in another type, borrowed where it is their own.
pub(super) enum Converted<'a> {
    Own(&'a [u8]),
    Copy(PoolBuffer),
}

impl<'a> Converted<'a> {
    pub(super) fn new(
        from: DType,
        bytes: &'a [u8],
        to: DType,
    ) -> std::result::Result<Self, crate::runtime::KernelError> {
        if from == to {
            return Ok(Converted::Own(bytes));
        }
        let count = bytes.len().checked_div(from.size()).unwrap_or(0);
        let mut buffer = PoolBuffer::new(count * to.size())?;
        convert(from, bytes, to, buffer.bytes_mut());
        Ok(Converted::Copy(buffer))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Converted::Own(bytes) => bytes,
            Converted::Copy(buffer) => buffer.bytes(),
        }
    }
}
