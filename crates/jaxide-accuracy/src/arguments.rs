//! Which arguments functions are measured for.

#![allow(
    clippy::excessive_precision,
    reason = "the nearest number to the digits of a table is meant"
)]

use crate::format::Format;
use crate::functions::Function;
use crate::measure::Arguments;

/// Numbers where functions change their form, overflow, underflow, have roots or poles, or need a long reduction.
pub fn hard(format: Format) -> Vec<u64> {
    const CENTRES: &[f64] = &[
        0.0,
        1e-320,
        2.2250738585072014e-308,
        1e-300,
        1e-160,
        1e-45,
        1.1754943508222875e-38,
        1e-30,
        1e-20,
        1e-10,
        5.960464477539063e-8,
        1e-5,
        0.015625,
        0.25,
        0.34657359027997264,
        0.5,
        std::f64::consts::LN_2,
        std::f64::consts::FRAC_PI_4,
        1.0,
        1.4616321449683622,
        1.5,
        std::f64::consts::FRAC_PI_2,
        2.0,
        3.0,
        std::f64::consts::PI,
        4.0,
        7.853981633974483,
        8.0,
        9.01,
        10.0,
        16.0,
        19.06,
        25.0,
        26.54,
        35.0,
        37.0,
        87.33,
        88.72283905206835,
        89.41,
        103.97,
        127.99,
        149.0,
        171.6,
        199999.0,
        200001.0,
        709.782712893384,
        710.4758600739439,
        745.13,
        1023.99,
        1074.0,
        999999999.0,
        1000000001.0,
        8388608.0,
        16777216.0,
        4503599627370496.0,
        9007199254740992.0,
        1e22,
        // The multiples of π/2 that numbers come nearest to.
        7.729179e28,
        5.319372648326541e255,
        6381956970095103.0 * 6.668014432879854e239,
        3.4e38,
        2.5563e305,
        1e300,
        1.7976931348623157e308,
        f64::INFINITY,
        f64::NAN,
        // Roots of the logarithm of the gamma function and of its derivative.
        -0.504083008264455409,
        -1.573498473162390459,
        -2.610720868444144650,
        -2.457024738220800690,
        -2.747682646727412710,
        -3.143580888349980060,
        -3.955294284858597975,
        -0.5,
        -1.0,
        -1.5,
        -2.0,
        -3.0,
    ];
    let near = |x: f64| {
        let bits = format.encode(x);
        let beside = (0..9).map(move |k: u64| bits.wrapping_add(k).wrapping_sub(4) & mask(format));
        // Libraries differ in what they make of signalling NaNs.
        beside.map(move |bits| match format.decode(bits) {
            x if x.is_nan() => format.encode(f64::NAN),
            _ => bits,
        })
    };
    CENTRES
        .iter()
        .flat_map(|&x| near(x).chain(near(-x)))
        .collect()
}

fn mask(format: Format) -> u64 {
    u64::MAX >> (64 - 8 * format.size())
}

/// The arguments of a function: in formats of 16 bits all of them, in single precision every so manieth and [`hard`] ones, in double
/// precision and of several arguments about `count`.
///
/// The latter are, a third each, bit patterns spread over all of them, numbers spread evenly over the usual range, and numbers spread
/// towards zero in it; and [`hard`] ones, in pairs too.
pub fn arguments(function: &Function, format: Format, every: u64, count: u64) -> Vec<Arguments> {
    if function.arity == 1 && format.size() < 8 {
        let patterns = Arguments::Patterns {
            every: if format.size() == 2 { 1 } else { every },
            of: 1 << (8 * format.size()),
        };
        return vec![patterns, Arguments::Lists(vec![hard(format)])];
    }
    let (low, high) = function.range;
    // Multiples of the golden ratio leave no gaps.
    let golden = 0x9E37_79B9_7F4A_7C15u64;
    let number = |k: u64| {
        let bits = golden.wrapping_mul(2 * k + 1);
        let unit = (bits.wrapping_mul(golden) >> 11) as f64 / (1u64 << 53) as f64;
        let end = if k & 8 == 0 { low } else { high };
        match k % 3 {
            0 => bits >> (64 - 8 * format.size()),
            1 => format.encode(low + (high - low) * unit),
            _ => format.encode(end * (-40.0 * unit).exp2() * (1.0 + unit)),
        }
    };
    let hard = hard(format);
    let (spread, pairs) = match function.arity {
        1 => (vec![(0..count).map(number).collect()], vec![hard]),
        _ => {
            // Of the pairs each kind of one with each kind of the other.
            let second = |k: u64| number(k / 3 + (k % 3) * count);
            let few: Vec<u64> = hard.iter().copied().step_by(5).collect();
            let pairs = few.iter().flat_map(|&x| few.iter().map(move |&y| (x, y)));
            let (first, last) = pairs.unzip();
            (
                vec![
                    (0..count).map(number).collect(),
                    (0..count).map(second).collect(),
                ],
                vec![first, last],
            )
        }
    };
    vec![Arguments::Lists(spread), Arguments::Lists(pairs)]
}
