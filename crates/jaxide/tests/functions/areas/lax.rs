//! The functions of `lax`.

use jaxide::core::Dims;
use jaxide::lax::{
    self, Convolution, DotDimensionNumbers, DotPrecision, GatherDimensionNumbers,
    GatherScatterMode, InDim, Padding, Precision, ScatterDimensionNumbers, Window,
};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/lax.txt"),
    call,
    tolerance,
    written_differently: &[(
        "lax.random_gamma_grad",
        "JAX writes the series of the function out in loops; here it is made of the primitive `igamma_grad_a`",
    )],
    different: &[
        (
            "grad lax.clamp ; f32[]",
            "JAX refuses the derivative by scalar ends where it differentiates by them",
        ),
        (
            "lax.conv_with_general_padding strides=1 padding=SAME lhs_dilation=2",
            "padding by name has a meaning for inputs with holes too",
        ),
    ],
    text,
};

const HIGHEST: DotPrecision = DotPrecision::Operands(Precision::Highest, Precision::Highest);

fn lengths(case: &Case, key: &str) -> Option<Vec<usize>> {
    Some(case.list(key)?.into_iter().map(|n| n as usize).collect())
}

fn dims(case: &Case, key: &str) -> Dims {
    lengths(case, key).unwrap_or_default().into_iter().collect()
}

fn mode(case: &Case) -> Option<GatherScatterMode> {
    Some(match case.parameter("how")? {
        "clip" => GatherScatterMode::Clip,
        "fill" => GatherScatterMode::FillOrDrop,
        "promise_in_bounds" => GatherScatterMode::PromiseInBounds,
        other => panic!("{other}"),
    })
}

fn padding(case: &Case) -> Padding {
    match case.parameter("padding").unwrap() {
        "SAME" => Padding::Same,
        "VALID" => Padding::Valid,
        "SAME_LOWER" => Padding::SameLower,
        _ => {
            let amounts = case.list("padding").unwrap();
            Padding::Explicit(amounts.chunks(2).map(|pair| (pair[0], pair[1])).collect())
        }
    }
}

fn layout(case: &Case) -> Option<(&str, &str, &str)> {
    let mut names = case.parameter("layout_")?.split('/');
    Some((names.next()?, names.next()?, names.next()?))
}

fn convolution(case: &Case) -> Convolution {
    let mut how = Convolution::new(lengths(case, "strides").unwrap(), padding(case));
    if let Some((lhs, rhs, out)) = layout(case) {
        how = how.layout(lhs, rhs, out);
    }
    how.lhs_dilation = lengths(case, "lhs_dilation").unwrap_or_default();
    how.rhs_dilation = lengths(case, "rhs_dilation").unwrap_or_default();
    how
}

fn in_dim(case: &Case) -> InDim {
    InDim::new()
        .axis(case.integer("axis").unwrap_or(0))
        .keepdims(case_flag(case, "keepdims", true))
        .allow_negative_indices(case_flag(case, "allow_negative_indices", true))
}

/// A flag; what it is when it is not given.
fn case_flag(case: &Case, key: &str, default: bool) -> bool {
    case.flag(key).unwrap_or(default)
}

fn shape(lengths: impl IntoIterator<Item = usize>) -> Array {
    Array::from(lengths.into_iter().map(|n| n as i32).collect::<Vec<i32>>())
}

fn matrix(numbers: impl IntoIterator<Item = usize>, columns: usize) -> Array {
    let numbers: Vec<i32> = numbers.into_iter().map(|n| n as i32).collect();
    Array::from_vec([numbers.len() / columns, columns], numbers)
}

fn scatter_numbers(case: &Case) -> ScatterDimensionNumbers {
    ScatterDimensionNumbers {
        update_window_dims: dims(case, "window"),
        inserted_window_dims: dims(case, "inserted"),
        scatter_dims_to_operand_dims: dims(case, "map"),
        ..Default::default()
    }
}

fn scatter(case: &Case, x: &[Array]) -> Option<Array> {
    let options = || {
        lax::Scatter::new()
            .mode(mode(case).unwrap_or(GatherScatterMode::FillOrDrop))
            .unique_indices(case_flag(case, "unique_indices", false))
            .indices_are_sorted(case_flag(case, "indices_are_sorted", false))
    };
    let numbers = scatter_numbers(case);
    Some(match case.function.as_str() {
        "lax.scatter" => lax::scatter(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_add" => lax::scatter_add(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_sub" => lax::scatter_sub(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_mul" => lax::scatter_mul(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_min" => lax::scatter_min(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_max" => lax::scatter_max(&x[0], &x[1], &x[2], numbers, options()),
        "lax.scatter_apply" => {
            let f = |x: Array| &x * &x + 1;
            let shape = lengths(case, "shape").unwrap();
            lax::scatter_apply(&x[0], &x[1], f, numbers, shape, options())
        }
        _ => return None,
    })
}

fn gather(case: &Case, x: &[Array]) -> Array {
    let numbers = GatherDimensionNumbers {
        offset_dims: dims(case, "offset"),
        collapsed_slice_dims: dims(case, "collapsed"),
        start_index_map: dims(case, "map"),
        ..Default::default()
    };
    let options = lax::Gather::new()
        .mode(mode(case).unwrap_or(GatherScatterMode::PromiseInBounds))
        .unique_indices(case_flag(case, "unique_indices", false))
        .indices_are_sorted(case_flag(case, "indices_are_sorted", false));
    let fill = case.integer("fill").map(jaxide::core::Scalar::Int);
    lax::gather(
        &x[0],
        &x[1],
        numbers,
        lengths(case, "sizes").unwrap(),
        options,
        fill,
    )
}

fn sliced(case: &Case, x: &[Array]) -> Option<Array> {
    let index = || case.integer("index").unwrap();
    let size = |key: &str| case.integer(key).unwrap() as usize;
    Some(match case.function.as_str() {
        "lax.dynamic_slice" => lax::dynamic_slice(&x[0], &x[1..], lengths(case, "sizes").unwrap()),
        "lax.dynamic_update_slice" => lax::dynamic_update_slice(&x[0], &x[1], &x[2..]),
        "lax.dynamic_slice_in_dim" => {
            lax::dynamic_slice_in_dim(&x[0], &x[1], size("slice_size"), in_dim(case))
        }
        "lax.dynamic_index_in_dim" => lax::dynamic_index_in_dim(&x[0], &x[1], in_dim(case)),
        "lax.dynamic_update_slice_in_dim" => {
            lax::dynamic_update_slice_in_dim(&x[0], &x[1], &x[2], in_dim(case))
        }
        "lax.dynamic_update_index_in_dim" => {
            lax::dynamic_update_index_in_dim(&x[0], &x[1], &x[2], in_dim(case))
        }
        "lax.index_in_dim" => lax::index_in_dim(&x[0], index(), in_dim(case)),
        "lax.slice_in_dim" => {
            let (start, limit) = (size("start_index"), size("limit_index"));
            lax::slice_in_dim(
                &x[0],
                start,
                limit,
                size("stride"),
                case.integer("axis").unwrap(),
            )
        }
        "lax.index_take" => lax::index_take(&x[0], &x[1..], lengths(case, "axes").unwrap()),
        "lax.gather" => gather(case, x),
        _ => return None,
    })
}

fn shaped(case: &Case, x: &[Array]) -> Option<Array> {
    let list = |key: &str| lengths(case, key).unwrap();
    let words = || layout(case).unwrap();
    Some(match case.function.as_str() {
        "lax.broadcast" => lax::broadcast(&x[0], list("sizes")),
        "lax.broadcast_like" => lax::broadcast_like(&x[0], &x[1]),
        "lax.broadcast_to_rank" => {
            lax::broadcast_to_rank(&x[0], case.integer("rank").unwrap() as usize)
        }
        "lax.broadcast_shapes" => shape(lax::broadcast_shapes(&[&list("a"), &list("b")])),
        "lax.broadcasted_iota" => lax::broadcasted_iota(
            case.dtype().unwrap(),
            list("shape"),
            case.integer("dimension").unwrap(),
        ),
        "lax.collapse" => lax::collapse(
            &x[0],
            case.integer("start_dimension").unwrap(),
            case.integer("stop_dimension"),
        ),
        "lax.full_like" => {
            let mut options = lax::FullLike::new();
            if let Some(dtype) = case.dtype() {
                options = options.dtype(dtype);
            }
            if let Some(shape) = lengths(case, "shape") {
                options = options.shape(shape);
            }
            lax::full_like(&x[0], &x[1], options)
        }
        "lax.shape_as_value" => lax::shape_as_value(list("shape")),
        "lax.conv_shape_tuple" => shape(lax::conv_shape_tuple(
            list("lhs"),
            list("rhs"),
            list("strides"),
            &padding(case),
        )),
        "lax.conv_general_shape_tuple" => shape(lax::conv_general_shape_tuple(
            list("lhs"),
            list("rhs"),
            list("strides"),
            &padding(case),
            words(),
        )),
        "lax.conv_transpose_shape_tuple" => shape(lax::conv_transpose_shape_tuple(
            list("lhs"),
            list("rhs"),
            list("strides"),
            &padding(case),
            words(),
        )),
        "lax.conv_general_permutations" => {
            let (lhs, rhs, out) = words();
            let orders = lax::conv_general_permutations(lhs, rhs, out);
            let count = orders[0].len();
            matrix(orders.concat(), count)
        }
        "lax.padtype_to_pads" => {
            let pads =
                lax::padtype_to_pads(list("lhs"), list("rhs"), list("strides"), &padding(case));
            let flat = pads
                .iter()
                .flat_map(|&(low, high)| [low as usize, high as usize]);
            matrix(flat, 2)
        }
        "lax.reduce_window_shape_tuple" => {
            let window = Window::new(list("window"))
                .strides(list("strides"))
                .padding(padding(case));
            shape(lax::reduce_window_shape_tuple(list("lhs"), &window))
        }
        _ => return None,
    })
}

fn computed(case: &Case, x: &[Array]) -> Option<Array> {
    let filter = || lengths(case, "filter").unwrap();
    Some(match case.function.as_str() {
        "lax.stage" => lax::stage(&x[0]),
        "lax.dce_sink" => {
            lax::dce_sink(&x[0]);
            x[0].clone()
        }
        "lax.reciprocal" => lax::reciprocal(&x[0]),
        "lax.one_minus_square" => lax::one_minus_square(&x[0]),
        "lax.polynomial" => lax::polynomial(&x[0], &x[1..]),
        "lax.random_gamma_grad" => lax::random_gamma_grad(&x[0], &x[1]),
        "lax.mulhi" => lax::mulhi(&x[0], &x[1]),
        "lax.complex" => lax::complex(&x[0], &x[1]),
        "lax.igamma_grad_a" => lax::igamma_grad_a(&x[0], &x[1]),
        "lax.clamp" => lax::clamp(&x[0], &x[1], &x[2]),
        "lax.select" => lax::select(&x[0], &x[1], &x[2]),
        "lax.select_n" => lax::select_n(&x[0], &x[1..]),
        "lax.dot" => {
            let mut options = lax::Dot::new().preferred_element_type(case.dtype());
            if case.parameter("precision").is_some() {
                options = options.precision(HIGHEST);
            }
            if case.parameter("lc").is_some() {
                options = options.dimension_numbers(DotDimensionNumbers {
                    lhs_contracting: dims(case, "lc"),
                    rhs_contracting: dims(case, "rc"),
                    lhs_batch: dims(case, "lb"),
                    rhs_batch: dims(case, "rb"),
                });
            }
            lax::dot(&x[0], &x[1], options)
        }
        "lax.batch_matmul" => lax::batch_matmul(&x[0], &x[1], None),
        "lax.conv_transpose" => {
            let mut options = lax::ConvTranspose::new()
                .transpose_kernel(case_flag(case, "transpose_kernel", false))
                .use_consistent_padding(case_flag(case, "use_consistent_padding", false));
            if let Some(dilation) = lengths(case, "rhs_dilation") {
                options = options.rhs_dilation(dilation);
            }
            if let Some((lhs, rhs, out)) = layout(case) {
                options = options.dimension_numbers(lax::conv_dimension_numbers(lhs, rhs, out));
            }
            lax::conv_transpose(
                &x[0],
                &x[1],
                lengths(case, "strides").unwrap(),
                padding(case),
                options,
            )
        }
        "lax.conv_general_dilated" => lax::conv_general_dilated(&x[0], &x[1], &convolution(case)),
        "lax.conv_with_general_padding" => {
            lax::conv_with_general_padding(&x[0], &x[1], &convolution(case))
        }
        "lax.conv_general_dilated_patches" => {
            lax::conv_general_dilated_patches(&x[0], filter(), &convolution(case))
        }
        "lax.conv_general_dilated_local" => {
            lax::conv_general_dilated_local(&x[0], &x[1], filter(), &convolution(case))
        }
        _ => return None,
    })
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    if case.function == "lax.sort_key_val" {
        let dimension = case.integer("dimension").unwrap_or(-1);
        let options = lax::SortKeyVal::new().dimension(dimension);
        let (keys, values) = lax::sort_key_val(&x[0], &x[1], options);
        return Some(vec![keys, values]);
    }
    for area in [scatter, sliced, shaped, computed] {
        if let Some(result) = area(case, x) {
            return Some(vec![result]);
        }
    }
    None
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.as_str() {
        "lax.dot" | "lax.batch_matmul" => Tolerance::of_largest(4.0),
        name if name.starts_with("lax.conv") => Tolerance::of_largest(4.0),
        "lax.polynomial" | "lax.one_minus_square" | "lax.reciprocal" => Tolerance::ulps(4.0),
        "lax.random_gamma_grad" | "lax.igamma_grad_a" => Tolerance::ulps(64.0),
        "lax.scatter_add" | "lax.scatter_sub" | "lax.scatter_mul" => Tolerance::ulps(1.0),
        _ => Tolerance::EXACT,
    }
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
