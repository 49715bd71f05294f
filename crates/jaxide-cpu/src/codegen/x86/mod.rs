//! Wide vector code for x86-64: lane bodies as AVX-512 or AVX2 machine code.
//!
//! A body is planned ([`plan`]), selected into instructions on virtual registers ([`lower`], with what differs between instruction sets
//! behind [`target`]), allocated by linear scan ([`alloc`]) and encoded ([`encode`]). Code and constants come out as one position-independent
//! image.

mod alloc;
mod avx2;
mod avx512;
mod codes;
mod cursors;
mod encode;
mod lanewise;
mod lir;
mod lower;
mod plan;
mod target;

pub(crate) use encode::Image;

use crate::lanes::Body;
use iced_x86::IcedError;
use target::Target;

/// Compiles a body for AVX-512.
pub(crate) fn avx512(body: &Body) -> Result<Image, IcedError> {
    let popcnt = std::arch::is_x86_feature_detected!("avx512vpopcntdq");
    compile(
        body,
        &avx512::Avx512 {
            wide: body.is_wide(),
            popcnt,
        },
    )
}

/// Compiles a body for AVX2.
pub(crate) fn avx2(body: &Body) -> Result<Image, IcedError> {
    compile(
        body,
        &avx2::Avx2 {
            wide: body.is_wide(),
        },
    )
}

fn compile<T: Target>(body: &Body, target: &T) -> Result<Image, IcedError> {
    let asm = lower::lower(body, target);
    let allocation = alloc::allocate(&asm, T::VECTORS);
    encode::encode(&asm, &allocation, T::EVEX)
}
