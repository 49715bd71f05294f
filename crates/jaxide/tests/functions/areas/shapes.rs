//! Changing the shapes of arrays, joining and cutting them.

use jaxide::numpy::{self, Along, Block, Delete, Ends, Flat, Joined, Order, Pad, PadMode, Places};
use jaxide::numpy::{ReflectType, Repeat, Rollaxis, Rot90, Shift, Trim, TrimZeros};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/shapes.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "numpy.pad how=median",
            "the median is that of a sorted array here",
        ),
        ("numpy.delete_at", CONSTANTS),
        ("numpy.delete_where", CONSTANTS),
    ],
    different: &[],
    text,
};

const CONSTANTS: &str = "JAX's constants come from operations of NumPy on indices that are known";

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if case.function.starts_with("numpy.pad") {
        return padded(case, x);
    }
    axes(case, x)
        .or_else(|| ordered(case, x))
        .or_else(|| joined(case, x))
        .or_else(|| cut(case, x))
        .or_else(|| edited(case, x))
}

/// `f` with the axes of a parameter, `()` where there are none.
fn along<T>(case: &Case, all: impl Fn() -> T, some: impl Fn(&[i64]) -> T) -> T {
    match case.list("axis") {
        None => all(),
        Some(axes) => some(&axes),
    }
}

fn axes(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let list = |key: &str| case.list(key).unwrap();
    let axis = |key: &str| case.integer(key).unwrap();
    match case.function.as_str() {
        "numpy.expand_dims" => one(numpy::expand_dims(&x[0], list("axis"))),
        "numpy.transpose" => one(match case.list("axes") {
            None => numpy::transpose(&x[0], ()),
            Some(axes) => numpy::transpose(&x[0], axes),
        }),
        "numpy.permute_dims" => one(numpy::permute_dims(&x[0], list("axes"))),
        "numpy.matrix_transpose" => one(numpy::matrix_transpose(&x[0])),
        "numpy.swapaxes" => one(numpy::swapaxes(&x[0], axis("axis1"), axis("axis2"))),
        "numpy.moveaxis" => one(numpy::moveaxis(&x[0], list("source"), list("destination"))),
        "numpy.rollaxis" => {
            let start = Rollaxis::new().start(case.integer("start").unwrap_or(0));
            one(numpy::rollaxis(&x[0], axis("axis"), start))
        }
        "numpy.squeeze" => one(along(
            case,
            || numpy::squeeze(&x[0], ()),
            |axes| numpy::squeeze(&x[0], axes),
        )),
        "numpy.reshape" => one(numpy::reshape(&x[0], list("shape"))),
        "numpy.reshape_order" => one(numpy::reshape_order(&x[0], list("shape"), Order::F)),
        "numpy.ravel" => one(numpy::ravel(&x[0], ())),
        "numpy.ravel_order" => one(numpy::ravel(&x[0], Order::F)),
        "numpy.atleast_1d" => one(numpy::atleast_1d(&x[0])),
        "numpy.atleast_2d" => one(numpy::atleast_2d(&x[0])),
        "numpy.atleast_3d" => one(numpy::atleast_3d(&x[0])),
        "numpy.broadcast_to" => one(numpy::broadcast_to(&x[0], list("shape"))),
        "numpy.broadcast_arrays" => Some(numpy::broadcast_arrays(x)),
        _ => None,
    }
}

fn ordered(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let rolled = |shift: Shift| {
        along(
            case,
            || numpy::roll(&x[0], shift.clone(), ()),
            |axes| numpy::roll(&x[0], shift.clone(), axes),
        )
    };
    match case.function.as_str() {
        "numpy.flip" => one(along(
            case,
            || numpy::flip(&x[0], ()),
            |axes| numpy::flip(&x[0], axes),
        )),
        "numpy.fliplr" => one(numpy::fliplr(&x[0])),
        "numpy.flipud" => one(numpy::flipud(&x[0])),
        "numpy.rot90" => {
            let mut options = Rot90::new().k(case.integer("k").unwrap_or(1));
            if let Some(axes) = case.list("axes") {
                options = options.axes((axes[0], axes[1]));
            }
            one(numpy::rot90(&x[0], options))
        }
        "numpy.roll" => one(rolled(Shift::from(&case.list("shift").unwrap()[..]))),
        "numpy.roll_by" => one(rolled(Shift::from(&x[1]))),
        _ => None,
    }
}

fn joined(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let options = || {
        let options = Joined::new().dtype(case.dtype());
        match case.integer("axis") {
            Some(axis) => options.axis(axis),
            None => options,
        }
    };
    let dtype = || numpy::Creation::new().dtype(case.dtype());
    match case.function.as_str() {
        "numpy.concatenate" => one(numpy::concatenate(x, options())),
        "numpy.concatenate_flat" => one(numpy::concatenate(x, options().axis(None::<i64>))),
        "numpy.concat" => one(numpy::concat(x, options())),
        "numpy.stack" => one(numpy::stack(x, options())),
        "numpy.vstack" => one(numpy::vstack(x, dtype())),
        "numpy.hstack" => one(numpy::hstack(x, dtype())),
        "numpy.dstack" => one(numpy::dstack(x, dtype())),
        "numpy.column_stack" => one(numpy::column_stack(x)),
        "numpy.append" => {
            let axis = Flat::new().axis(case.integer("axis"));
            one(numpy::append(&x[0], &x[1], axis))
        }
        "numpy.block" => {
            let row = |arrays: &[Array]| Block::from(arrays.to_vec());
            one(numpy::block(match case.parameter("kind").unwrap() {
                "row" => row(x),
                "square" => Block::from([row(&x[..2]), row(&x[2..])]),
                "one" => Block::from(&x[0]),
                "deep" => Block::from(x.iter().map(|x| [[x]]).collect::<Vec<_>>()),
                _ => Block::from([Block::from(&x[0]), row(&x[1..])]),
            }))
        }
        _ => None,
    }
}

fn cut(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let axis = Along::new().axis(case.integer("axis").unwrap_or(0));
    let count = || case.integer("sections").unwrap();
    let places = || case.list("places").unwrap();
    match case.function.as_str() {
        "numpy.split" => Some(numpy::split(&x[0], count(), axis)),
        "numpy.array_split" => Some(numpy::array_split(&x[0], count(), axis)),
        "numpy.split_at" => Some(numpy::split(&x[0], places(), axis)),
        "numpy.array_split_at" => Some(numpy::array_split(&x[0], places(), axis)),
        "numpy.vsplit" => Some(numpy::vsplit(&x[0], count())),
        "numpy.hsplit" => Some(numpy::hsplit(&x[0], count())),
        "numpy.dsplit" => Some(numpy::dsplit(&x[0], count())),
        "numpy.unstack" => Some(numpy::unstack(&x[0], axis)),
        _ => None,
    }
}

/// A list of integers as an array.
fn integers(case: &Case, key: &str) -> Array {
    let numbers = case.list(key).unwrap();
    Array::from(numbers.iter().map(|&n| n as i32).collect::<Vec<i32>>())
}

fn range(case: &Case, key: &str) -> Places {
    let numbers = case.list(key).unwrap();
    Places::Range {
        start: numbers[0],
        stop: numbers[1],
        step: numbers.get(2).copied().unwrap_or(1),
    }
}

fn edited(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    let axis = case.integer("axis");
    let repeat = || {
        let length = case
            .integer("total_repeat_length")
            .map(|length| length as usize);
        Repeat::new().axis(axis).total_repeat_length(length)
    };
    let flat = || Flat::new().axis(axis);
    let delete = || Delete::new().axis(axis);
    match case.function.as_str() {
        "numpy.tile" => one(numpy::tile(&x[0], case.list("reps").unwrap())),
        "numpy.repeat" => one(numpy::repeat(
            &x[0],
            case.integer("repeats").unwrap(),
            repeat(),
        )),
        "numpy.repeat_each" => one(numpy::repeat(&x[0], integers(case, "repeats"), repeat())),
        "numpy.repeat_by" => one(numpy::repeat(&x[0], &x[1], repeat())),
        "numpy.resize" => one(numpy::resize(&x[0], case.list("new_shape").unwrap())),
        "numpy.delete" => one(numpy::delete(&x[0], case.integer("obj").unwrap(), delete())),
        "numpy.delete_at" => one(numpy::delete(&x[0], integers(case, "places"), delete())),
        "numpy.delete_range" => one(numpy::delete(&x[0], range(case, "places"), delete())),
        "numpy.delete_unique" => one(numpy::delete(
            &x[0],
            &x[1],
            delete().assume_unique_indices(true),
        )),
        "numpy.delete_where" => {
            let mask = case.parameter("where").unwrap().chars().map(|c| c == '1');
            one(numpy::delete(
                &x[0],
                Array::from(mask.collect::<Vec<bool>>()),
                delete(),
            ))
        }
        "numpy.insert" => one(numpy::insert(
            &x[0],
            case.integer("at").unwrap(),
            &x[1],
            flat(),
        )),
        "numpy.insert_at" => one(numpy::insert(&x[0], integers(case, "at"), &x[1], flat())),
        "numpy.insert_range" => one(numpy::insert(&x[0], range(case, "at"), &x[1], flat())),
        "numpy.trim_zeros" => {
            let trim = match case.parameter("trim") {
                Some("f") => Trim::Front,
                Some("b") => Trim::Back,
                _ => Trim::Both,
            };
            let options = TrimZeros::new().trim(trim);
            // Of a traced array nobody knows the zeros.
            one(numpy::trim_zeros(
                &case.arrays()[0],
                match axis {
                    Some(axis) => options.axis(axis),
                    None => options,
                },
            ))
        }
        _ => None,
    }
}

fn width(case: &Case) -> Ends<i64> {
    let numbers = case.list("width").unwrap();
    match numbers.as_slice() {
        [one] => Ends::from(*one),
        [before, after] => Ends::from((*before, *after)),
        all => Ends::from(
            all.chunks(2)
                .map(|pair| (pair[0], pair[1]))
                .collect::<Vec<_>>(),
        ),
    }
}

fn padded(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    if case.function == "numpy.pad_with" {
        return one(numpy::pad_with(&x[0], width(case), |vector, _, _| {
            vector.at(0).set(7.0)
        }));
    }
    let mode = match case.parameter("how").unwrap_or("constant") {
        "constant" => PadMode::Constant,
        "edge" => PadMode::Edge,
        "wrap" => PadMode::Wrap,
        "reflect" => PadMode::Reflect,
        "symmetric" => PadMode::Symmetric,
        "linear_ramp" => PadMode::LinearRamp,
        "maximum" => PadMode::Maximum,
        "minimum" => PadMode::Minimum,
        "mean" => PadMode::Mean,
        "median" => PadMode::Median,
        _ => PadMode::Empty,
    };
    let mut options = Pad::new().mode(mode);
    match &x[1..] {
        [] => {}
        [value] => options = options.constant_values(value),
        [before, after, ..] => options = options.constant_values((before, after)),
    }
    match case.list("end").as_deref() {
        Some([end]) => options = options.end_values(*end),
        Some([before, after]) => options = options.end_values((*before, *after)),
        _ => {}
    }
    match case.list("stat").as_deref() {
        Some([length]) => options = options.stat_length(*length),
        Some([before, after]) => options = options.stat_length((*before, *after)),
        _ => {}
    }
    if case.parameter("reflect") == Some("odd") {
        options = options.reflect_type(ReflectType::Odd);
    }
    one(numpy::pad(&x[0], width(case), options))
}

fn tolerance(case: &Case) -> Tolerance {
    match case.parameter("how") {
        Some("mean" | "linear_ramp" | "median") => Tolerance::of_largest(2.0),
        _ => Tolerance::EXACT,
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    match name {
        "append" => one(numpy::append(&x[0], &x[1], ())),
        "array_split" => Some(numpy::array_split(&x[0], 3, ())),
        "atleast_2d" => one(numpy::atleast_2d(&x[0])),
        "block" => one(numpy::block([[&x[0], &x[0]], [&x[0], &x[0]]])),
        "broadcast_to" => one(numpy::broadcast_to(&x[0], [3, 2, 3])),
        "column_stack" => one(numpy::column_stack(x)),
        "concatenate" => one(numpy::concatenate(x, 1)),
        "delete" => one(numpy::delete(&x[0], 2, ())),
        "dsplit" => Some(numpy::dsplit(&x[0], 2)),
        "expand_dims" => one(numpy::expand_dims(&x[0], (0, 2))),
        "flip" => one(numpy::flip(&x[0], ())),
        "hsplit" => Some(numpy::hsplit(&x[0], 3)),
        "hstack" => one(numpy::hstack(x, ())),
        "insert" => one(numpy::insert(&x[0], 1, 5.0, ())),
        "matrix_transpose" => one(numpy::matrix_transpose(&x[0])),
        "moveaxis" => one(numpy::moveaxis(&x[0], 0, -1)),
        "pad_constant" => {
            let threes = Pad::new().constant_values(3.0);
            one(numpy::pad(&x[0], [(1, 0), (0, 2)], threes))
        }
        "pad_edge" => one(numpy::pad(&x[0], 2, PadMode::Edge)),
        "pad_mean" => one(numpy::pad(&x[0], 1, PadMode::Mean)),
        "pad_reflect" => one(numpy::pad(&x[0], (2, 1), PadMode::Reflect)),
        "pad_wrap" => one(numpy::pad(&x[0], (2, 3), PadMode::Wrap)),
        "ravel" => one(numpy::ravel(&x[0], ())),
        "repeat" => one(numpy::repeat(&x[0], 2, 1)),
        "repeat_array" => one(numpy::repeat(&x[0], [1, 0, 2], 0)),
        "resize" => one(numpy::resize(&x[0], [3, 4])),
        "roll" => one(numpy::roll(&x[0], 2, 0)),
        "roll_2d" => one(numpy::roll(&x[0], [1, -1], (0, 1))),
        "roll_dynamic" => one(numpy::roll(&x[0], &x[1], 0)),
        "rollaxis" => one(numpy::rollaxis(&x[0], 2, ())),
        "rot90" => one(numpy::rot90(&x[0], ())),
        "split" => Some(numpy::split(&x[0], 3, 1)),
        "squeeze" => one(numpy::squeeze(&x[0], ())),
        "stack" => one(numpy::stack(x, 1)),
        "swapaxes" => one(numpy::swapaxes(&x[0], 0, 2)),
        "tile" => one(numpy::tile(&x[0], [2, 2])),
        "transpose" => one(numpy::transpose(&x[0], ())),
        "vstack" => one(numpy::vstack(x, ())),
        _ => None,
    }
}
