//! Stacks of arrays that are combined along the axis that they have been stacked along.

use crate::everywhere::{Planned, everywhere};
use jaxide_testing::compare::Nearness;

/// So many columns of an array of `rows` rows, each with a function of its own, stacked and combined; `with_stack` gives the stack as well.
fn combined(
    (ty, rows, columns): (&str, usize, usize),
    axis: usize,
    (combine, axes): (&str, &[usize]),
    with_stack: bool,
) -> Planned {
    let mut text = format!("{{ lambda ; a:{ty}[{rows},{columns}]. let\n");
    let mut names = String::new();
    for k in 0..columns {
        let (from, to) = (columns - 1 - k, columns - k);
        let function = match (ty, k % 3) {
            ("bool", 0) => "not",
            ("bool", _) => "copy",
            (_, 0) => "neg",
            (_, 1) => "square",
            (_, _) => "abs",
        };
        text += &format!(
            "b{k}:{ty}[{rows},1] = slice[
               limit_indices=({rows}, {to}) start_indices=(0, {from}) strides=None
             ] a
             c{k}:{ty}[{rows}] = squeeze[dimensions=(1,)] b{k}
             d{k}:{ty}[{rows}] = {function} c{k}\n"
        );
        names += &format!(" d{k}");
    }
    let mut shape = vec![rows];
    shape.insert(axis, columns);
    let shape = format!("{},{}", shape[0], shape[1]);
    let list: Vec<String> = axes.iter().map(usize::to_string).collect();
    let (list, left) = match axes {
        [_, _] => (list.join(", "), String::new()),
        _ if axes[0] == axis => (list.join("") + ",", rows.to_string()),
        _ => (list.join("") + ",", columns.to_string()),
    };
    let results = if with_stack { "(r, s)" } else { "(r,)" };
    text += &format!(
        "s:{ty}[{shape}] = stack[axis={axis}]{names}
         r:{ty}[{left}] = {combine}[axes=({list}) out_sharding=None] s
         in {results} }}"
    );
    let nearness = match ty {
        "f32" => Nearness::Relative(1e-5),
        _ => Nearness::Bits,
    };
    everywhere(&text, nearness)
}

#[test]
fn of_few_arrays_become_operations_of_the_arrays() {
    for (ty, combines) in [
        ("i32", &["reduce_sum", "reduce_prod", "reduce_min"][..]),
        ("f32", &["reduce_sum", "reduce_max"]),
        ("bool", &["reduce_or", "reduce_and"]),
    ] {
        for &combine in combines {
            for (rows, columns) in [(1, 2), (3, 3), (100, 8), (33, 16)] {
                for axis in [0, 1] {
                    let planned = combined((ty, rows, columns), axis, (combine, &[axis]), false);
                    // No element asks which array it is of.
                    assert!(!planned.loops.contains(" if "), "{}", planned.loops);
                    combined((ty, rows, columns), axis, (combine, &[0, 1]), false);
                }
            }
        }
    }
}

/// More arrays, stacks that are wanted themselves, and other axes.
#[test]
fn of_other_kinds_have_the_same_results() {
    for axis in [0, 1] {
        combined(("i32", 50, 17), axis, ("reduce_sum", &[axis]), false);
        combined(("i32", 50, 6), axis, ("reduce_sum", &[axis]), true);
        combined(("i32", 50, 6), axis, ("reduce_max", &[1 - axis]), false);
        combined(("f32", 1, 1), axis, ("reduce_max", &[axis]), false);
    }
}

/// Stacks that are stored, of arrays with several elements of a row each: lanes run along the rows, since along the stack each would be of another
/// array.
#[test]
fn of_many_arrays_have_lanes_along_these() {
    let (rows, pieces) = (300, 7);
    let mut text = format!("{{ lambda ; a:i32[{rows},{}]. let\n", pieces + 3);
    let mut names = String::new();
    for k in 0..pieces {
        text += &format!(
            "b{k}:i32[{rows},4] = slice[
               limit_indices=({rows}, {}) start_indices=(0, {k}) strides=None
             ] a
             c{k}:i32[{rows}] = reduce_sum[axes=(1,) out_sharding=None] b{k}
             d{k}:i32[{rows}] = mul c{k} {k}:i32[]\n",
            k + 4
        );
        names += &format!(" d{k}");
    }
    text += &format!("s:i32[{pieces},{rows}] = stack[axis=0]{names}\n in (s,) }}");
    let planned = everywhere(&text, Nearness::Bits);
    assert!(
        !planned.loops.contains(&format!("lanes {pieces}\n")),
        "{}",
        planned.loops
    );
}
