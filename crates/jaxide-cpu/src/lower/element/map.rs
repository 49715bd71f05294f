//! [`MapOp`]s on elements of any type, and which of them need library code.

use super::super::graph::MapOp;
use super::{
    Class, Element, Format, class, complex, convert, float, integer, random, select, small,
};
use crate::lanes::{Access, Addr, BinOp, Builder, Ty, Value};
use jaxide_core::DType;
use smallvec::smallvec;

/// Whether [`map`] can do this; other operations are calls of the runtime.
pub(crate) fn has_lane_form(op: MapOp, args: &[DType], result: DType) -> bool {
    // The operations are their own description: building one says whether it exists.
    let mut b = Builder::new("probe");
    let pointer = b.pointer(Access::ReadOnly);
    let operands: Vec<Element> = args
        .iter()
        .map(|&dtype| {
            super::components(dtype)
                .iter()
                .map(|&mem| b.load(mem, Addr::uniform(pointer)))
                .collect()
        })
        .collect();
    try_map(&mut b, op, args, result, &operands).is_some()
}

/// Applies an operation.
///
/// # Panics
/// When [`has_lane_form`] says no.
pub(crate) fn map(
    b: &mut Builder,
    op: MapOp,
    args: &[DType],
    result: DType,
    x: &[Element],
) -> Element {
    try_map(b, op, args, result, x).unwrap_or_else(|| panic!("{op:?} of {args:?} has no lane form"))
}

fn try_map(
    b: &mut Builder,
    op: MapOp,
    args: &[DType],
    result: DType,
    x: &[Element],
) -> Option<Element> {
    match op {
        MapOp::Select => return Some(select_n(b, args[0], x)),
        MapOp::Convert => return convert::convert(b, args[0], result, &x[0]),
        MapOp::Bitcast => return bitcast(b, args[0], result, &x[0]),
        MapOp::Complex => return Some(smallvec![x[0][0], x[1][0]]),
        MapOp::Imag if !args[0].is_complex() => return None,
        MapOp::Conj if !args[0].is_complex() => {
            let zero = b.float(b.ty(x[0][0]), 0.0);
            return Some(if result.is_complex() {
                smallvec![x[0][0], zero]
            } else {
                x[0].clone()
            });
        }
        MapOp::Threefry { word } => {
            let block = random::threefry(b, [x[0][0], x[1][0]], [x[2][0], x[3][0]]);
            return Some(smallvec![block[word as usize]]);
        }
        MapOp::KeyFromWords => return Some(x.iter().map(|word| word[0]).collect()),
        MapOp::KeyWord(word) => return Some(smallvec![x[0][word as usize]]),
        _ => {}
    }
    if args.iter().chain([&result]).any(|&dtype| is_small(dtype)) {
        return small_map(b, op, args, result, x);
    }
    let flat = || x.iter().map(|element| element[0]).collect::<Vec<Value>>();
    match class(args[0]) {
        Class::Bool => integer::boolean(b, op, &flat()).map(|v| smallvec![v]),
        Class::Int { bits, signed } => {
            integer::integer(b, op, bits, signed, &flat()).map(|v| smallvec![v])
        }
        Class::Float(format) => float::float(b, op, format, &flat()).map(|v| smallvec![v]),
        Class::Complex(_) => complex::complex(b, op, x),
        Class::Key(_) => keys(b, op, x),
        Class::Small | Class::Empty => None,
    }
}

fn is_small(dtype: DType) -> bool {
    class(dtype) == Class::Small
}

/// An operation with small floats among operands and result: computed in 32 bits.
fn small_map(
    b: &mut Builder,
    op: MapOp,
    args: &[DType],
    result: DType,
    x: &[Element],
) -> Option<Element> {
    // The neighbour of a number depends on its own format, and so does where factorials overflow.
    if matches!(op, MapOp::NextAfter | MapOp::Bitcast | MapOp::Polygamma) {
        return None;
    }
    if matches!(op, MapOp::EqTotal | MapOp::LtTotal | MapOp::LeTotal) {
        let [x, y] = [0, 1].map(|k| small::total_key(b, args[k], x[k][0]));
        return integer::integer(b, op, 32, true, &[x, y]).map(|v| smallvec![v]);
    }
    let wide = |dtype: DType| if is_small(dtype) { DType::F32 } else { dtype };
    let wide_args: Vec<DType> = args.iter().map(|&dtype| wide(dtype)).collect();
    let numbers: Vec<Element> = args
        .iter()
        .zip(x)
        .map(|(&dtype, x)| match class(dtype) {
            Class::Small => smallvec![small::decode(b, dtype, x[0])],
            _ => x.clone(),
        })
        .collect();
    let number = try_map(b, op, &wide_args, wide(result), &numbers)?;
    Some(match class(result) {
        Class::Small => smallvec![small::encode(b, result, number[0])],
        _ => number,
    })
}

/// The case at the index; an index outside gives the nearest case.
fn select_n(b: &mut Builder, which: DType, x: &[Element]) -> Element {
    let (index, cases) = x.split_first().expect("a select has an index");
    let mut result = cases[cases.len() - 1].clone();
    for (k, case) in cases[..cases.len() - 1].iter().enumerate().rev() {
        let below = match class(which) {
            Class::Bool => b.not(index[0]),
            Class::Int { signed, bits } => {
                let next = b.int(if bits == 64 { Ty::I64 } else { Ty::I32 }, k as i64 + 1);
                b.bin(if signed { BinOp::Lt } else { BinOp::LtU }, index[0], next)
            }
            Class::Float(_) | Class::Complex(_) | Class::Key(_) | Class::Small | Class::Empty => {
                b.mask(true)
            }
        };
        result = select(b, below, case, &result);
    }
    result
}

/// The same bits; 16-bit floats, whose bits are not at hand, are read again from memory instead.
fn bitcast(b: &mut Builder, from: DType, to: DType, x: &Element) -> Option<Element> {
    let bits = |class| match class {
        Class::Int { bits, .. } => Some((bits, false)),
        Class::Float(Format::F32) => Some((32, true)),
        Class::Float(Format::F64) => Some((64, true)),
        _ => None,
    };
    let ((own, own_float), (other, float)) = (bits(class(from))?, bits(class(to))?);
    if own != other || own < 8 {
        return None;
    }
    let v = if own_float == float {
        x[0]
    } else {
        b.bitcast(x[0])
    };
    Some(match class(to) {
        Class::Int { bits, signed } => smallvec![super::wrap(b, bits, signed, v)],
        _ => smallvec![v],
    })
}

fn keys(b: &mut Builder, op: MapOp, x: &[Element]) -> Option<Element> {
    let same = |b: &mut Builder| {
        let mut all = b.mask(true);
        for (&x, &y) in x[0].iter().zip(&x[1]) {
            let equal = b.eq(x, y);
            all = b.and(all, equal);
        }
        all
    };
    match op {
        MapOp::Eq => Some(smallvec![same(b)]),
        MapOp::Ne => {
            let equal = same(b);
            Some(smallvec![b.not(equal)])
        }
        _ => None,
    }
}
