//! The remainder of a division of floats.

use super::expr::{Expr, binary};
use crate::lanes::{Builder, Value};

/// Remainder with the sign of the dividend, exact, as C's `fmod`: NaN for an infinite dividend or a zero divisor.
pub fn rem(b: &mut Builder, x: Value, y: Value) -> Value {
    binary(b, x, y, |x, y| {
        let (a, d) = (x.abs(), y.abs());
        let valid = a.lt(f64::INFINITY) & d.gt(0.0);
        // Each turn takes away as many multiples as a quotient has digits.
        let start = valid.select(a, x.constant(0.0));
        let d = valid.select(d, x.constant(1.0));
        let r = start.iterate(|r| d.le(r), |r| less(r, d));
        valid.select(r.copysign(x), x.constant(f64::NAN)).value
    })
}

/// `r` modulo a multiple of `d` by a power of two that leaves an exact integer quotient; 0 < d <= r.
fn less<'a>(r: Expr<'a>, d: Expr<'a>) -> Expr<'a> {
    let mantissa = i64::from(r.by(23, 52));
    let (smallest, up) = r.by(
        (f64::from(f32::MIN_POSITIVE), 16777216.0),
        (f64::MIN_POSITIVE, 9007199254740992.0),
    );
    let int = |x: i64| r.int(x);
    // The exponent of d, as if subnormals had one.
    let subnormal = d.lt(smallest);
    let normal = subnormal.select(d * up, d);
    let offset = subnormal.select(int(mantissa + 1), int(0));
    let exponent = normal.bits().shr_u(int(mantissa)) - offset;
    // The multiple's exponent: that of r less a few digits than a quotient has, and that of a normal number. Where d is
    // not smaller, d itself will do; so it will for the lowest normal r, which is at most 2^(mantissa + 1) d.
    let have = r.bits().shr_u(int(mantissa));
    let wanted = have - int(mantissa - 1);
    let far = exponent.lt(wanted) & int(1).lt(have);
    let wanted = wanted.lt(int(1)).select(int(1), wanted);
    let up_by = wanted - normal.bits().shr_u(int(mantissa));
    let scaled = (normal.bits() + up_by.shl(int(mantissa))).as_float();
    let multiple = far.select(scaled, d);
    let rest = (-(r / multiple).trunc()).fma(multiple, r);
    // The quotient may have been rounded up.
    rest.lt(0.0).select(rest + multiple, rest)
}
