//! Elements of one type as those of another, where products are summed in a wider one.

use half::{bf16, f16};

use crate::runtime::Context;
use crate::runtime::shared::SharedSlice;
use crate::runtime::simd::{nearest_bf16, nearest_f16, widen_f16};

/// Conversion between operand, sum and result types.
pub trait Convert<To>: Copy + 'static {
    /// Writes values as the other type; both slices have the same length.
    fn convert(from: &[Self], to: &mut [To]);
}

impl<T: Copy + 'static> Convert<T> for T {
    fn convert(from: &[T], to: &mut [T]) {
        to.copy_from_slice(from);
    }
}

/// Conversions of slices, element by element.
macro_rules! conversions {
    ($($from:ty => $to:ty: $convert:expr;)*) => { $(impl Convert<$to> for $from {
        fn convert(from: &[Self], to: &mut [$to]) {
            $crate::runtime::simd::for_each_isa! {
                /// A loop for the compiler to vectorise.
                fn each(from: &[$from], to: &mut [$to]) = each_any
            }
            #[inline(always)]
            fn each_any(from: &[$from], to: &mut [$to]) {
                for (to, &from) in to.iter_mut().zip(from) {
                    *to = $convert(from);
                }
            }
            each(from, to);
        }
    })* };
}
pub(in crate::runtime) use conversions;

conversions! {
    bf16 => f32: bf16::to_f32;
    f16 => f32: widen_f16;
    f32 => f16: nearest_f16;
    f32 => bf16: nearest_bf16;
    f32 => f64: f64::from;
    i8 => i16: i16::from;
    i16 => i8: |x| x as i8;
    i8 => i32: i32::from;
    u8 => i32: i32::from;
    i16 => i32: i32::from;
    i32 => i64: i64::from;
}

/// Elements that one chunk converts.
const CHUNK: usize = 1 << 15;

/// Converts as many elements as both slices have.
pub(in crate::runtime) fn convert_all<From, To>(from: &[From], to: &mut [To], context: &Context<'_>)
where
    From: Convert<To> + Sync,
    To: Send + Sync,
{
    let count = from.len().min(to.len());
    let to = SharedSlice::new(to);
    context.parallel_for(count.div_ceil(CHUNK), |chunk| {
        let range = chunk * CHUNK..count.min((chunk + 1) * CHUNK);
        // SAFETY: chunks are disjoint.
        From::convert(&from[range.clone()], unsafe { to.range(range) });
    });
}
