//! Images of other sizes, as in `jax.image`.

use jaxide_core::prims::Precision;
use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, AsShape, Axes, as_dtype, lengths};
use crate::numpy::nested;
use crate::options::options;
use crate::trace::{library, raise};
use crate::{lax, numpy};

/// How pixels between pixels are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResizeMethod {
    /// The nearest pixel.
    Nearest,
    /// Linear interpolation.
    Linear,
    /// The kernel of Lanczos of radius 3.
    Lanczos3,
    /// The kernel of Lanczos of radius 5.
    Lanczos5,
    /// Cubic interpolation by the kernel of Keys.
    Cubic,
    /// Cubic interpolation as in PyTorch and OpenCV, where pixels at the edge go on outside; with antialiasing as [`ResizeMethod::Cubic`].
    CubicPytorch,
    /// Means over the area of a new pixel.
    Area,
}

options! {
    /// What [`resize`] and [`scale_and_translate`] take beside the method; a truth value for `antialias` alone is one too.
    pub struct Resize {
        /// Whether kernels become wider where an image becomes smaller.
        antialias: bool = true;
    }
}

impl From<bool> for Resize {
    fn from(antialias: bool) -> Self {
        Resize::new().antialias(antialias)
    }
}

/// `image` resized to a shape: axes whose lengths differ are interpolated. Of integers a float, but for the nearest pixels.
///
/// # Panics
/// When the shape has another rank.
///
/// ```
/// use jaxide::image::{ResizeMethod, resize};
/// use jaxide::Array;
/// let x = Array::from([[0.0f32, 4.0]]);
/// assert_eq!(resize(&x, [1, 4], ResizeMethod::Linear, ()).to_vec::<f32>(), [0.0, 1.0, 3.0, 4.0]);
/// assert_eq!(resize(&x, [1, 4], ResizeMethod::Nearest, ()).to_vec::<f32>(), [0.0, 0.0, 4.0, 4.0]);
/// ```
#[track_caller]
pub fn resize(
    image: &Array,
    shape: impl AsShape,
    method: ResizeMethod,
    options: impl Into<Resize>,
) -> Array {
    let _named = crate::trace::named("resize");
    let Resize { antialias } = options.into();
    let shape = &lengths("resize", &shape)[..];
    check_rank("resize", image, shape);
    let axes = (0..shape.len()).filter(|&axis| image.shape()[axis] != shape[axis]);
    let axes: Vec<usize> = axes.collect();
    let of = format!("{shape:?} {method:?} {antialias}");
    library("_resize", &of, [image], |[image]| {
        if method == ResizeMethod::Nearest {
            return nearest(image, shape, &axes);
        }
        let [image] = numpy::promote_inexact("resize", [image]);
        let scales = axes.iter().map(|&axis| match shape[axis] {
            0 => 1.0,
            length => length as f64 / image.shape()[axis] as f64,
        });
        let dtype = if image.dtype() == DType::F64 {
            DType::F64
        } else {
            DType::F32
        };
        let scales: Vec<f64> = scales.collect();
        let moves = |place: usize| Move {
            dtype,
            inverse: Array::from(1.0 / scales[place]),
            factor: nested::rounded(1.0 / scales[place], dtype),
            translation: None,
        };
        interpolated(&image, shape, &axes, &moves, method, antialias)
    })
}

/// `image` scaled and moved along `spatial_dims`: the pixel at `x` goes to `scale x + translation`, where whole numbers are the edges of
/// pixels. What comes from outside is 0.
///
/// # Panics
/// When the shape has another rank, scales or translations are not one for each axis, or the method is [`ResizeMethod::Nearest`].
///
/// ```
/// use jaxide::image::{ResizeMethod, scale_and_translate};
/// use jaxide::Array;
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// let moved = scale_and_translate(&x, [3], 0, [1.0f32], [1.0f32], ResizeMethod::Linear, ());
/// assert_eq!(moved.to_vec::<f32>(), [0.0, 1.0, 2.0]);
/// ```
#[track_caller]
pub fn scale_and_translate(
    image: &Array,
    shape: impl AsShape,
    spatial_dims: impl Axes,
    scale: impl Into<Array>,
    translation: impl Into<Array>,
    method: ResizeMethod,
    options: impl Into<Resize>,
) -> Array {
    let _named = crate::trace::named("scale_and_translate");
    const NAME: &str = "scale_and_translate";
    let Resize { antialias } = options.into();
    let shape = &lengths(NAME, &shape)[..];
    check_rank(NAME, image, shape);
    let axes = spatial_dims.axes(NAME, shape.len());
    if method == ResizeMethod::Nearest {
        raise(Error::parameter("nearest pixels are for `resize` only").in_operation(NAME));
    }
    let [image] = numpy::promote_inexact(NAME, [image]);
    let [scale, translation] = numpy::promote_inexact(NAME, [&scale.into(), &translation.into()]);
    for given in [&scale, &translation] {
        if given.shape() != [axes.len()] {
            let error = format!(
                "{} numbers are needed, and {} is given",
                axes.len(),
                given.aval()
            );
            raise(Error::shape(error).in_operation(NAME));
        }
    }
    let element = |x: &Array, place: usize| match axes.len() {
        1 => lax::squeeze(x, [0]),
        _ => x.index(place),
    };
    let moves = |place: usize| {
        let scale = element(&scale, place);
        let translation = element(&translation, place);
        let inverse: Array = 1.0 / scale;
        Move {
            dtype: translation.dtype(),
            factor: inverse.clone(),
            inverse,
            translation: Some(translation),
        }
    };
    interpolated(&image, shape, &axes, &moves, method, antialias)
}

#[track_caller]
fn check_rank(operation: &str, image: &Array, shape: &[usize]) {
    if image.ndim() != shape.len() {
        let error = format!("{shape:?} has another rank than {}", image.aval());
        raise(Error::shape(error).in_operation(operation));
    }
}

/// How new pixels of an axis lie among the old ones.
struct Move {
    /// The element type of places.
    dtype: DType,
    /// One over the scale.
    inverse: Array,
    /// The same as a factor of places: rounded to their element type.
    factor: Array,
    /// The translation in new pixels, where there is one.
    translation: Option<Array>,
}

/// The pixels that are nearest to the middles of the new ones.
fn nearest(image: &Array, shape: &[usize], axes: &[usize]) -> Array {
    let mut x = image.clone();
    for &axis in axes {
        let c = |length: usize| Array::from(length as f64);
        let middles = lax::iota(DType::F32, [shape[axis]], 0) + 0.5;
        let places = middles * c(image.shape()[axis]) / c(shape[axis]);
        let places = lax::convert_element_type(&lax::floor(&places), DType::I32);
        x = taken(&x, &places, axis);
    }
    x
}

/// Slices at places, which are in bounds.
fn taken(x: &Array, places: &Array, axis: usize) -> Array {
    use jaxide_core::prims::{GatherDimensionNumbers, GatherScatterMode};
    let negative = places.lt(0);
    let from_end = places + Array::from(x.shape()[axis]);
    let places = lax::select(&negative, &from_end, places);
    let mut sizes = x.shape().to_vec();
    sizes[axis] = 1;
    let numbers = GatherDimensionNumbers {
        offset_dims: (0..x.ndim()).filter(|&own| own != axis).collect(),
        collapsed_slice_dims: Dims::from_slice(&[axis]),
        start_index_map: Dims::from_slice(&[axis]),
        ..Default::default()
    };
    let places = lax::expand_dims(&places, [1]);
    let mode = GatherScatterMode::PromiseInBounds;
    lax::gather(x, &places, numbers, &sizes, mode, None)
}

/// Products with matrices of weights along axes.
fn interpolated(
    image: &Array,
    shape: &[usize],
    axes: &[usize],
    moves: &dyn Fn(usize) -> Move,
    method: ResizeMethod,
    antialias: bool,
) -> Array {
    let method = match method {
        ResizeMethod::CubicPytorch if antialias => ResizeMethod::Cubic,
        method => method,
    };
    let weights = axes.iter().enumerate().map(|(place, &axis)| {
        let moved = &moves(place);
        let weights = weights(image.shape()[axis], shape[axis], moved, method, antialias);
        as_dtype(&weights, image.dtype(), false)
    });
    let weights: Vec<Array> = weights.collect();
    // Axes have letters: those of the image first, then the new ones.
    let letters = |axes: &[usize]| -> String {
        let letter = |&axis: &usize| char::from_u32('a' as u32 + axis as u32);
        axes.iter().filter_map(letter).collect()
    };
    let mut order: Vec<usize> = (0..shape.len()).collect();
    let mut subscripts = letters(&order);
    for (place, &axis) in axes.iter().enumerate() {
        order[axis] = shape.len() + place;
        subscripts += &format!(",{}", letters(&[axis, order[axis]]));
    }
    let subscripts = format!("{subscripts}->{}", letters(&order));
    let operands = [vec![image.clone()], weights].concat();
    numpy::einsum(
        &subscripts,
        &operands,
        numpy::Einsum::new().precision(Precision::Highest),
    )
}

/// The weights of old pixels (rows) in new ones (columns).
fn weights(
    input: usize,
    output: usize,
    moved: &Move,
    method: ResizeMethod,
    antialias: bool,
) -> Array {
    let Move {
        dtype,
        inverse,
        factor,
        translation,
    } = moved;
    let number = |value: f64| Array::from(value);
    let width = match antialias {
        true => numpy::maximum(inverse, &number(1.0)),
        false => number(1.0),
    };
    let offset = || match translation {
        Some(translation) => translation * factor,
        None => number(0.0),
    };
    let places = (lax::iota(*dtype, [output], 0) + 0.5) * factor - offset() - 0.5;
    let row = |x: &Array| lax::expand_dims(x, [0]);
    let column = |x: &Array| lax::expand_dims(x, [1]);
    // With antialiasing it would be another kernel.
    let edge = if method == ResizeMethod::CubicPytorch {
        2
    } else {
        0
    };
    let mut own = lax::iota(*dtype, [input + 2 * edge], 0);
    if edge > 0 {
        own = number(-(edge as f64)) + own;
    }
    let weights = if method == ResizeMethod::Area {
        let left = lax::iota(*dtype, [output], 0) * factor - offset();
        let right = &left + factor;
        let own_left = lax::iota(*dtype, [input], 0);
        let own_right = &own_left + 1.0;
        let end = numpy::minimum(&row(&right), &column(&own_right));
        let start = numpy::maximum(&row(&left), &column(&own_left));
        numpy::maximum(&number(0.0), &(end - start))
    } else {
        let x = lax::abs(&(row(&places) - column(&own))) / width;
        kernel(method, &x)
    };
    let weights = at_edges(&weights, edge);
    let sum = numpy::sum(&weights, numpy::Reduction::new().axis(0).keepdims(true));
    let threshold = nested::rounded(1000.0 * f64::from(f32::EPSILON), *dtype);
    let some = numpy::greater(&lax::abs(&sum), &threshold);
    let divisor = numpy::where_(&sum.not_equal(0), &sum, &Array::from(1));
    let weights = numpy::where_(&some, &(weights / divisor), &Array::from(0));
    if edge > 0 {
        return weights;
    }
    let first = places.ge(-0.5);
    let last = places.le(input as f64 - 0.5);
    let inside = row(&lax::bitwise_and(&first, &last));
    numpy::where_(&inside, &weights, &Array::from(0))
}

/// The rows outside added to the first and the last inside.
fn at_edges(weights: &Array, edge: usize) -> Array {
    let rows = weights.shape()[0];
    if edge == 0 || rows <= 2 * edge {
        return weights.clone();
    }
    let columns = weights.shape()[1];
    let part = |start: usize, limit: usize| lax::slice(weights, [start, 0], [limit, columns], None);
    let sum = |x: Array| lax::expand_dims(&lax::reduce_sum(&x, [0]), [0]);
    if rows == 2 * edge + 1 {
        return sum(weights.clone());
    }
    let (first, last) = (edge + 1, rows - edge - 1);
    let parts = [
        sum(part(0, first)),
        part(first, last),
        sum(part(last, rows)),
    ];
    lax::concatenate(&parts, 0)
}

/// The weight at a distance.
fn kernel(method: ResizeMethod, x: &Array) -> Array {
    let number = |value: f64| Array::from(value);
    match method {
        ResizeMethod::Lanczos3 => lanczos(3.0, x),
        ResizeMethod::Lanczos5 => lanczos(5.0, x),
        ResizeMethod::Cubic => {
            let near = (number(1.5) * x - 2.5) * x * x + 1.0;
            let beyond = x.ge(1.0);
            let far = number(-0.5) * x + 2.5;
            let far = (far * x - 4.0) * x + 2.0;
            let out = numpy::where_(&beyond, &far, &near);
            numpy::where_(&x.ge(2.0), &number(0.0), &out)
        }
        ResizeMethod::CubicPytorch => {
            let a = -0.75;
            let near = (number(a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
            let beyond = x.ge(1.0);
            let far = ((number(a) * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
            let out = numpy::where_(&beyond, &far, &near);
            numpy::where_(&x.ge(2.0), &number(0.0), &out)
        }
        ResizeMethod::Linear | ResizeMethod::Nearest | ResizeMethod::Area => {
            let below = number(1.0) - lax::abs(x);
            numpy::maximum(&number(0.0), &below)
        }
    }
}

/// The product of two cardinal sines.
fn lanczos(radius: f64, x: &Array) -> Array {
    use std::f64::consts::PI;
    let number = |value: f64| nested::rounded(value, x.dtype());
    let y = number(radius) * lax::sin(&(number(PI) * x));
    let y = y * lax::sin(&(number(PI) * x / radius));
    let far = x.gt(number(0.001));
    let nonzero = x.not_equal(0);
    let square = number(PI * PI) * lax::integer_pow(x, 2);
    let divisor = numpy::where_(&nonzero, &square, &Array::from(1));
    let out = numpy::where_(&far, &(y / divisor), &Array::from(1));
    numpy::where_(&x.gt(radius), &number(0.0), &out)
}
