//! Reading and writing at indices, finding and making them.

use jaxide::core::prims::SearchSide;
use jaxide::numpy::{self, Index, IndexMode, IndexingStrategy, Indices, SearchMethod};
use jaxide::prelude::*;
use jaxide::{Tensor, lax, ops};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/indexing.txt"),
    call,
    tolerance,
    written_differently: &[
        ("at.get idx=l", ARRAYS),
        ("at.get idx=m101,l1/3", ARRAYS),
        ("at.get idx=m1010/", CONSTANTS),
        ("at.set idx=m1010/", CONSTANTS),
        ("at.add idx=m1010/", CONSTANTS),
    ],
    different: &[],
    text,
};

const ARRAYS: &str = "JAX computes with NumPy what it knows of arrays of NumPy; here every array is one of the program";

const CONSTANTS: &str = "small constants that are equal are one";

/// An index as `record/indexing.py` writes it.
fn places(text: &str, arrays: &[Array]) -> Indices {
    let number = |word: &str| -> Option<i64> { (!word.is_empty()).then(|| word.parse().unwrap()) };
    let place = |word: &str| match word.as_bytes()[0] {
        b'E' => Index::Ellipsis,
        b'N' => numpy::newaxis,
        b'T' => Index::from(true),
        b'F' => Index::from(false),
        b'@' => Index::from(&arrays[word[1..].parse::<usize>().unwrap()]),
        b'm' => mask(&word[1..]),
        b'l' => {
            let words = word[1..].split('/').filter(|word| !word.is_empty());
            Index::from(
                words
                    .map(|word| word.parse().unwrap())
                    .collect::<Vec<i32>>(),
            )
        }
        _ if word.contains(':') => {
            let mut ends = word.split(':').map(number);
            Index::Slice {
                start: ends.next().flatten(),
                stop: ends.next().flatten(),
                step: ends.next().flatten(),
            }
        }
        _ => Index::Integer(word.parse().unwrap()),
    };
    Indices::from(text.split(',').map(place).collect::<Vec<Index>>())
}

fn mask(text: &str) -> Index {
    let rows: Vec<&str> = text.split('/').collect();
    if rows.len() == 1 {
        return Index::from(truths(text));
    }
    let bytes: Vec<u8> = text
        .bytes()
        .filter(|&digit| digit != b'/')
        .map(|digit| digit - b'0')
        .collect();
    let mask = Tensor::from_bytes(&[rows.len(), rows[0].len()], DType::Bool, &bytes);
    Index::from(Array::from(mask.unwrap()))
}

fn truths(digits: &str) -> Array {
    Array::from(
        digits
            .chars()
            .map(|digit| digit == '1')
            .collect::<Vec<bool>>(),
    )
}

fn mode(case: &Case) -> Option<IndexMode> {
    Some(match case.parameter("how")? {
        "fill" => IndexMode::Fill,
        "drop" => IndexMode::Drop,
        "clip" => IndexMode::Clip,
        "wrap" => IndexMode::Wrap,
        "ignore" => IndexMode::Ignore,
        "promise_in_bounds" => IndexMode::PromiseInBounds,
        // There are no words here that mean nothing.
        _ => IndexMode::Raise,
    })
}

fn number(case: &Case, key: &str) -> Option<Array> {
    let text = case.parameter(key)?;
    Some(match text.parse::<i64>() {
        Ok(whole) => Array::from(whole),
        Err(_) => Array::from(case.float(key).unwrap()),
    })
}

/// An axis; `none` is none.
fn axis(case: &Case) -> Option<i64> {
    case.parameter("axis")
        .filter(|&axis| axis != "none")
        .map(|axis| axis.parse().unwrap())
}

/// The options of a case by the names of its parameters: those that are left out stay what they are.
macro_rules! given {
    ($options:expr, $($method:ident $value:expr;)*) => {{
        let mut options = $options;
        $(if let Some(value) = $value {
            options = options.$method(value);
        })*
        options
    }};
}

fn at(case: &Case, x: &[Array]) -> Option<Array> {
    let name = case.function.strip_prefix("at.")?;
    let used = if matches!(name, "get" | "apply") {
        1
    } else {
        2
    };
    let indices = places(case.parameter("idx").unwrap(), &x[used..]);
    let words = ["how", "fill", "unique", "sorted", "wrap", "strategy"];
    if name == "get" && words.iter().all(|word| case.parameter(word).is_none()) {
        return Some(x[0].index(indices));
    }
    let strategy = case.parameter("strategy").map(|word| match word {
        "auto" => IndexingStrategy::Auto,
        "gather" => IndexingStrategy::Gather,
        "static_slice" => IndexingStrategy::StaticSlice,
        "dynamic_slice" => IndexingStrategy::DynamicSlice,
        _ => panic!("{word}"),
    });
    let at = given! { x[0].at(indices),
        mode mode(case);
        fill_value number(case, "fill");
        unique_indices case.flag("unique");
        indices_are_sorted case.flag("sorted");
        wrap_negative_indices case.flag("wrap");
        strategy strategy;
    };
    Some(match name {
        "get" => at.get(),
        "apply" => at.apply(|x| &x * &x + 1),
        "set" => at.set(&x[1]),
        "add" => at.add(&x[1]),
        "subtract" => at.subtract(&x[1]),
        "multiply" => at.multiply(&x[1]),
        "divide" => at.divide(&x[1]),
        "power" => at.power(&x[1]),
        "min" => at.min(&x[1]),
        "max" => at.max(&x[1]),
        _ => return None,
    })
}

/// Integers that are no operands: their values are known while the function is traced.
fn known(case: &Case) -> Option<Array> {
    let ints: Vec<i32> = case.list("ints")?.into_iter().map(|n| n as i32).collect();
    let shape: Vec<usize> = match case.list("shape") {
        Some(shape) => shape.into_iter().map(|n| n as usize).collect(),
        None => vec![ints.len()],
    };
    Some(Array::from_vec(shape, ints))
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if let Some(result) = at(case, x) {
        return Some(vec![result]);
    }
    if let Some(result) = one(case, x) {
        return Some(vec![result]);
    }
    let size = |key: &str| case.integer(key).map(|n| n as usize);
    let pair = |(rows, columns): (Array, Array)| vec![rows, columns];
    Some(match case.function.as_str() {
        "numpy.nonzero" | "numpy.where" => {
            let fill = case
                .parameter("fill")
                .filter(|text| text.starts_with('[') || text.contains(','));
            let fill = match fill {
                Some(_) => case.list("fill").map(Array::from),
                None => number(case, "fill").or(number(case, "fill_value")),
            };
            numpy::nonzero(
                &x[0],
                given! { numpy::Nonzero::new(), size size("size"); fill_value fill; },
            )
        }
        "known.nonzero" => numpy::nonzero(&known(case).unwrap(), ()),
        "numpy.diag_indices" => numpy::diag_indices(size("n").unwrap(), size("ndim").unwrap_or(2)),
        "numpy.diag_indices_from" => numpy::diag_indices_from(&x[0]),
        "numpy.tril_indices" => pair(numpy::tril_indices(size("n").unwrap(), triangle(case))),
        "numpy.triu_indices" => pair(numpy::triu_indices(size("n").unwrap(), triangle(case))),
        "numpy.tril_indices_from" => {
            pair(numpy::tril_indices_from(&x[0], case.integer("k").unwrap()))
        }
        "numpy.triu_indices_from" => {
            pair(numpy::triu_indices_from(&x[0], case.integer("k").unwrap()))
        }
        "numpy.mask_indices" => {
            let options =
                given! { numpy::MaskIndices::new(), k case.integer("k"); size size("size"); };
            let without_row = |x: &Array, k: i64| x.at(k).set(0.0);
            pair(numpy::mask_indices(
                size("n").unwrap(),
                without_row,
                options,
            ))
        }
        "numpy.ix_" => numpy::ix_(x),
        "numpy.unravel_index" => numpy::unravel_index(&x[0], case.list("shape").unwrap()),
        _ => return None,
    })
}

fn triangle(case: &Case) -> numpy::TriangleIndices {
    given! { numpy::TriangleIndices::new(),
        k case.integer("k");
        m case.integer("m").map(|m| m as usize);
    }
}

fn one(case: &Case, x: &[Array]) -> Option<Array> {
    let size = |key: &str| case.integer(key).map(|n| n as usize);
    let found = || given! { numpy::Nonzero::new(), size size("size"); fill_value number(case, "fill_value"); };
    let method = || {
        case.parameter("method").map(|word| match word {
            "scan" => SearchMethod::Scan,
            "scan_unrolled" => SearchMethod::ScanUnrolled,
            "sort" => SearchMethod::Sort,
            "compare_all" => SearchMethod::CompareAll,
            _ => panic!("{word}"),
        })
    };
    let compress = || {
        given! { numpy::Compress::new(),
            axis axis(case);
            size size("size");
            fill_value number(case, "fill_value");
        }
    };
    let extract = || given! { numpy::Extract::new(), size size("size"); fill_value number(case, "fill_value"); };
    let segment = || {
        given! { ops::Segment::new(),
            num_segments size("num_segments");
            indices_are_sorted case.flag("indices_are_sorted");
            bucket_size size("bucket_size");
            mode mode(case);
        }
    };
    Some(match case.function.as_str() {
        "numpy.take" => numpy::take(
            &x[0],
            &x[1],
            given! { numpy::Take::new(),
                axis axis(case);
                mode mode(case).or(case.parameter("mode").map(|_| IndexMode::Fill));
                unique_indices case.flag("unique_indices");
                indices_are_sorted case.flag("indices_are_sorted");
                fill_value number(case, "fill_value");
            },
        ),
        "numpy.take_along_axis" => {
            let options = given! { numpy::TakeAlongAxis::new(),
                axis case.parameter("axis").map(|_| axis(case));
                mode mode(case);
                fill_value number(case, "fill_value");
                wrap_negative_indices case.flag("wrap_negative_indices");
            };
            numpy::take_along_axis(&x[0], &x[1], options)
        }
        "numpy.put_along_axis" => {
            let options = given! { numpy::PutAlongAxis::new(), axis axis(case); mode mode(case); };
            numpy::put_along_axis(&x[0], &x[1], &x[2], options)
        }
        "numpy.put" => numpy::put(
            &x[0],
            &x[1],
            &x[2],
            given! { numpy::Put::new(), mode mode(case); },
        ),
        "numpy.place" => numpy::place(&x[0], &x[1], &x[2]),
        "numpy.fill_diagonal" => numpy::fill_diagonal(&x[0], &x[1]),
        "numpy.choose" => numpy::choose(
            &x[0],
            &x[1..],
            given! { numpy::Choose::new(), mode mode(case); },
        ),
        "known.choose" => numpy::choose(&known(case).unwrap(), x, ()),
        "known.flatnonzero" => numpy::flatnonzero(&known(case).unwrap(), ()),
        "known.argwhere" => numpy::argwhere(&known(case).unwrap(), ()),
        "known.ravel_multi_index" => {
            let ints = case.list("ints").unwrap();
            let rows = ints
                .chunks(2)
                .map(|row| Array::from([row[0] as i32, row[1] as i32]));
            numpy::ravel_multi_index(
                &rows.collect::<Vec<Array>>(),
                case.list("dims").unwrap(),
                (),
            )
        }
        "known.segment_sum" => ops::segment_sum(&x[0], &known(case).unwrap(), ()),
        "known.segment_max" => ops::segment_max(&x[0], &known(case).unwrap(), ()),
        "numpy.compress" => numpy::compress(&x[0], &x[1], compress()),
        "known.compress" => {
            numpy::compress(&truths(case.parameter("mask").unwrap()), &x[0], compress())
        }
        "numpy.extract" => numpy::extract(&x[0], &x[1], extract()),
        "known.extract" => {
            numpy::extract(&truths(case.parameter("mask").unwrap()), &x[0], extract())
        }
        "numpy.flatnonzero" => numpy::flatnonzero(&x[0], found()),
        "numpy.argwhere" => numpy::argwhere(&x[0], found()),
        "numpy.ravel_multi_index" => {
            let options = given! { numpy::RavelMultiIndex::new(),
                mode mode(case);
                order case.parameter("order").map(|order| order.chars().next().unwrap());
                dtype case.dtype();
            };
            numpy::ravel_multi_index(x, case.list("dims").unwrap(), options)
        }
        "numpy.searchsorted" => numpy::searchsorted(
            &x[0],
            &x[1],
            given! { numpy::Searchsorted::new(),
                side case.parameter("side").map(|_| SearchSide::Right);
                sorter x.get(2);
                method method();
            },
        ),
        "numpy.digitize" => numpy::digitize(
            &x[0],
            &x[1],
            given! { numpy::Digitize::new(),
                right case.flag("right");
                method method();
            },
        ),
        "ops.segment_sum" => ops::segment_sum(&x[0], &x[1], segment()),
        "ops.segment_prod" => ops::segment_prod(&x[0], &x[1], segment()),
        "ops.segment_min" => ops::segment_min(&x[0], &x[1], segment()),
        "ops.segment_max" => ops::segment_max(&x[0], &x[1], segment()),
        _ => return None,
    })
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.as_str() {
        "at.power" => Tolerance::ulps(4.0),
        // A quotient of complex numbers is made of sums of products, which XLA rounds in another order; of others it is exact.
        "at.divide" if case.text.contains("; c64") => Tolerance::ulps(4.0),
        "ops.segment_sum" | "ops.segment_prod" => Tolerance::ulps(2.0),
        _ => Tolerance::EXACT,
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let found = |size: usize| numpy::Nonzero::new().size(size);
    Some(match name {
        "argwhere" => vec![numpy::argwhere(&x[0], found(3))],
        "choose" => vec![numpy::choose(
            &x[0],
            &lax::unstack(&x[1], 0),
            IndexMode::Clip,
        )],
        "digitize" => vec![numpy::digitize(&x[0], &x[1], ())],
        "extract" => {
            let options = numpy::Extract::new().size(2).fill_value(-1.0);
            vec![numpy::extract(&x[0], &x[1], options)]
        }
        "fill_diagonal" => vec![numpy::fill_diagonal(&x[0], 9.0)],
        "flatnonzero" => vec![numpy::flatnonzero(&x[0], found(4).fill_value(-1))],
        "nonzero" => numpy::nonzero(&x[0], found(3).fill_value(0)),
        "put_along_axis" => vec![numpy::put_along_axis(&x[0], &x[1], &x[2], 1)],
        "ravel_multi_index" => vec![numpy::ravel_multi_index(x, [3, 4], IndexMode::Clip)],
        "searchsorted" => vec![numpy::searchsorted(&x[0], &x[1], ())],
        "searchsorted_right" => vec![numpy::searchsorted(&x[0], &x[1], SearchSide::Right)],
        "searchsorted_sort" => {
            let options = numpy::Searchsorted::new().method(SearchMethod::Sort);
            vec![numpy::searchsorted(&x[0], &x[1], options)]
        }
        "take" => vec![numpy::take(&x[0], &x[1], 1)],
        "take_along_axis" => vec![numpy::take_along_axis(&x[0], &x[1], 1)],
        "take_clip" => vec![numpy::take(
            &x[0],
            &x[1],
            numpy::Take::new().mode(IndexMode::Clip),
        )],
        "take_fill" => vec![numpy::take(
            &x[0],
            &x[1],
            numpy::Take::new().mode(IndexMode::Fill),
        )],
        "take_wrap" => vec![numpy::take(
            &x[0],
            &x[1],
            numpy::Take::new().mode(IndexMode::Wrap),
        )],
        "unravel_index" => numpy::unravel_index(&x[0], [3, 4]),
        "where_one_arg" => numpy::nonzero(&x[0].gt(0), found(3).fill_value(-1)),
        _ => return None,
    })
}
