//! Sliding windows: reductions over them, and convolution.

use jaxide_core::prims::{self, ConvDimensionNumbers, DotPrecision, NoConsts, Opaque, SelectPrim};
use jaxide_core::{ClosedJaxpr, DType, Dims, Error};

use super::reduction::{combiner, recorded};
use crate::array::{Array, AsShape, as_dtype, lengths};
use crate::trace::{bind, bind_one, raise};

/// How the edges of an array are padded before windows slide over it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Not at all: windows stay inside.
    Valid,
    /// So that there are as many windows as elements (divided by the stride, rounded up); where that is odd, more at
    /// the end.
    Same,
    /// As [`Padding::Same`], with more at the start.
    SameLower,
    /// Low and high padding by axis; negative padding removes elements.
    Explicit(Vec<(i64, i64)>),
}

impl Padding {
    /// Low and high padding for windows of these lengths, holes included, over axes of these lengths.
    pub(super) fn amounts(
        &self,
        lengths: &[usize],
        windows: &[usize],
        strides: &[usize],
    ) -> Vec<(i64, i64)> {
        let total = |axis: usize| {
            let (length, window) = (lengths[axis] as i64, windows[axis] as i64);
            let stride = (strides[axis] as i64).max(1);
            let count = (length + stride - 1) / stride;
            ((count - 1) * stride + window - length).max(0)
        };
        let axes = 0..windows.len().min(lengths.len()).min(strides.len());
        match self {
            Padding::Valid => axes.map(|_| (0, 0)).collect(),
            Padding::Same => axes
                .map(|axis| (total(axis) / 2, total(axis) - total(axis) / 2))
                .collect(),
            Padding::SameLower => axes
                .map(|axis| (total(axis) - total(axis) / 2, total(axis) / 2))
                .collect(),
            Padding::Explicit(amounts) => amounts.clone(),
        }
    }
}

/// How a window slides: lengths, strides, padding and holes by axis.
///
/// ```
/// use jaxide::lax::{Padding, Window};
/// let pooling = Window::new(&[1, 2, 2, 1]).strides(&[1, 2, 2, 1]).padding(Padding::Same);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    pub(super) dimensions: Vec<usize>,
    pub(super) strides: Vec<usize>,
    padding: Padding,
    pub(super) base_dilation: Vec<usize>,
    pub(super) window_dilation: Vec<usize>,
}

impl Window {
    /// A window of these lengths that moves by one element, without padding or holes.
    ///
    /// # Panics
    /// When a length is negative.
    #[must_use]
    #[track_caller]
    pub fn new(dimensions: impl AsShape) -> Self {
        let dimensions = lengths("window", &dimensions).into_vec();
        let ones = vec![1; dimensions.len()];
        Window {
            dimensions,
            strides: ones.clone(),
            padding: Padding::Valid,
            base_dilation: ones.clone(),
            window_dilation: ones,
        }
    }

    /// By how many elements it moves, by axis.
    ///
    /// # Panics
    /// When one is negative.
    #[must_use]
    #[track_caller]
    pub fn strides(mut self, strides: impl AsShape) -> Self {
        self.strides = lengths("window", &strides).into_vec();
        self
    }

    /// How the edges are padded: with elements that do not change the result.
    #[must_use]
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = padding;
        self
    }

    /// Distances between neighbours of the array, by axis: holes count as padding.
    ///
    /// # Panics
    /// When one is negative.
    #[must_use]
    #[track_caller]
    pub fn base_dilation(mut self, dilation: impl AsShape) -> Self {
        self.base_dilation = lengths("window", &dilation).into_vec();
        self
    }

    /// Distances between neighbours in the window, by axis.
    ///
    /// # Panics
    /// When one is negative.
    #[must_use]
    #[track_caller]
    pub fn window_dilation(mut self, dilation: impl AsShape) -> Self {
        self.window_dilation = lengths("window", &dilation).into_vec();
        self
    }

    /// Low and high padding over an array.
    #[track_caller]
    pub(super) fn amounts(&self, operation: &str, x: &Array) -> Vec<(i64, i64)> {
        let rank = x.ndim();
        for given in [
            &self.dimensions,
            &self.strides,
            &self.base_dilation,
            &self.window_dilation,
        ] {
            if given.len() != rank {
                raise(
                    Error::shape(format!(
                        "a window of {} axes slides over {}",
                        given.len(),
                        x.aval()
                    ))
                    .in_operation(operation),
                );
            }
        }
        let lengths: Vec<usize> = x
            .shape()
            .iter()
            .zip(&self.base_dilation)
            .map(|(&n, &d)| dilated(n, d))
            .collect();
        let windows: Vec<usize> = self
            .dimensions
            .iter()
            .zip(&self.window_dilation)
            .map(|(&n, &d)| dilated(n, d))
            .collect();
        self.padding.amounts(&lengths, &windows, &self.strides)
    }
}

/// Length with holes.
pub(super) fn dilated(length: usize, dilation: usize) -> usize {
    if length == 0 {
        0
    } else {
        (length - 1) * dilation + 1
    }
}

/// How many windows there are.
pub(super) fn strided(length: i64, window: usize, stride: usize) -> usize {
    match usize::try_from(length) {
        Ok(length) if length >= window => (length - window) / stride.max(1) + 1,
        _ => 0,
    }
}

fn dims(values: &[usize]) -> Dims {
    Dims::from_slice(values)
}

/// Reductions over windows by name of their primitive.
macro_rules! reductions {
    ($($(#[$doc:meta])* $name:ident $prim:ident;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the window has another number of axes than `x`, or its element type is not one it is defined for.
        #[track_caller]
        pub fn $name(x: &Array, window: &Window) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let prim = prims::$prim {
                base_dilation: dims(&window.base_dilation),
                padding: window.amounts(stringify!($name), x),
                window_dilation: dims(&window.window_dilation),
                window_dimensions: dims(&window.dimensions),
                window_strides: dims(&window.strides),
            };
            bind_one(prim, std::slice::from_ref(x))
        }
    )* };
}

reductions! {
    /// Sum over windows.
    reduce_window_sum ReduceWindowSum;
    /// Largest over windows.
    reduce_window_max ReduceWindowMax;
    /// Smallest over windows.
    reduce_window_min ReduceWindowMin;
}

/// Arrays reduced together over windows by any associative function of two lists of scalars: what is so far, and what
/// comes. Padding and holes hold the initial values, which must be neutral.
///
/// # Panics
/// When there are not as many initial values as arrays, shapes differ, the window has another number of axes, or
/// `computation` gives other types than it takes, or captures a traced array.
///
/// ```
/// use jaxide::{Array, lax::{self, Window}};
/// let x = Array::from([1.0f32, 2.0, 3.0]);
/// let products =
///     lax::reduce_window(&[x], &[Array::from(1.0)], |a, b| vec![&a[0] * &b[0]], &Window::new(&[2]));
/// assert_eq!(products[0].to_vec::<f32>(), [2.0, 6.0]);
/// ```
#[track_caller]
pub fn reduce_window(
    operands: &[Array],
    initial: &[Array],
    computation: impl Fn(&[Array], &[Array]) -> Vec<Array>,
    window: &Window,
) -> Vec<Array> {
    let _named = crate::trace::named("reduce_window");
    const OPERATION: &str = "reduce_window";
    let (jaxpr, all) = recorded(OPERATION, operands, initial, computation);
    let Some(first) = operands.first() else {
        raise(Error::parameter("there are no arrays").in_operation(OPERATION))
    };
    let prim = prims::ReduceWindow {
        base_dilation: dims(&window.base_dilation),
        consts: NoConsts,
        jaxpr,
        padding: window.amounts(OPERATION, first),
        window_dilation: dims(&window.window_dilation),
        window_dimensions: dims(&window.dimensions),
        window_strides: dims(&window.strides),
    };
    bind(prim, &all).into_vec()
}

/// For each window of `operand` the element of `source` is added at the window's largest (`Ge`) or smallest (`Le`)
/// element: the transpose of a maximum over windows. Dilations of the window do not count.
///
/// # Panics
/// When `source` does not have an element for each window.
#[track_caller]
pub fn select_and_scatter_add(
    source: &Array,
    operand: &Array,
    select_prim: SelectPrim,
    window: &Window,
) -> Array {
    let _named = crate::trace::named("select_and_scatter_add");
    let prim = prims::SelectAndScatterAdd {
        padding: window.amounts("select_and_scatter_add", operand),
        select_prim,
        window_dimensions: dims(&window.dimensions),
        window_strides: dims(&window.strides),
    };
    bind_one(prim, &[source.clone(), operand.clone()])
}

/// For each window of `operand` the element of `source` is combined by `scatter` with what is at the element that
/// `select` prefers: it tells of two elements whether the first stays. All else is `initial`.
///
/// # Panics
/// When `source` does not have an element for each window, `select` gives no truth value, or a function captures a traced
/// array.
#[track_caller]
pub fn select_and_scatter(
    operand: &Array,
    select: impl Fn(Array, Array) -> Array,
    window: &Window,
    source: &Array,
    initial: impl Into<Array>,
    scatter: impl Fn(Array, Array) -> Array,
) -> Array {
    let _named = crate::trace::named("select_and_scatter");
    const OPERATION: &str = "select_and_scatter";
    let of_two = |f: &dyn Fn(Array, Array) -> Array| -> ClosedJaxpr {
        combiner(OPERATION, &[operand.dtype(), operand.dtype()], |args| {
            vec![f(args[0].clone(), args[1].clone())]
        })
    };
    let prim = prims::SelectAndScatter {
        padding: window.amounts(OPERATION, operand),
        scatter_consts: NoConsts,
        scatter_jaxpr: of_two(&scatter),
        select_consts: NoConsts,
        select_jaxpr: of_two(&select),
        window_dimensions: dims(&window.dimensions),
        window_strides: dims(&window.strides),
    };
    let initial = as_dtype(&initial.into(), operand.dtype(), false);
    bind_one(prim, &[operand.clone(), source.clone(), initial])
}

/// For each window the element of `tangents` at the place of the largest (`Ge`) or smallest (`Le`) element of `operand`:
/// the derivative of a maximum over windows.
///
/// # Panics
/// When shapes differ, or the window has another number of axes.
#[track_caller]
pub fn select_and_gather_add(
    tangents: &Array,
    operand: &Array,
    select_prim: SelectPrim,
    window: &Window,
) -> Array {
    let _named = crate::trace::named("select_and_gather_add");
    let prim = prims::SelectAndGatherAdd {
        base_dilation: dims(&window.base_dilation),
        padding: window.amounts("select_and_gather_add", operand),
        select_prim,
        window_dilation: dims(&window.window_dilation),
        window_dimensions: dims(&window.dimensions),
        window_strides: dims(&window.strides),
    };
    bind_one(prim, &[tangents.clone(), operand.clone()])
}

/// What a convolution is told beside its operands; [`Convolution::new`] gives the usual values.
#[derive(Clone, Debug, PartialEq)]
pub struct Convolution {
    /// Steps of the kernel, by axis of space.
    pub window_strides: Vec<usize>,
    /// How the edges of space are padded with zeros.
    pub padding: Padding,
    /// Distances between neighbours of the input, by axis of space; empty for 1.
    pub lhs_dilation: Vec<usize>,
    /// Distances between neighbours of the kernel, by axis of space; empty for 1.
    pub rhs_dilation: Vec<usize>,
    /// Which axes mean what; `None` for batch, feature, space and output feature, input feature, space.
    pub dimension_numbers: Option<ConvDimensionNumbers>,
    /// Groups of features that are convolved apart.
    pub feature_group_count: usize,
    /// Groups of batches that are convolved apart.
    pub batch_group_count: usize,
    /// How exact products have to be.
    pub precision: Option<DotPrecision>,
    /// Element type of the result.
    pub preferred_element_type: Option<DType>,
}

impl Convolution {
    /// Strides and padding, nothing else.
    ///
    /// # Panics
    /// When a stride is negative.
    #[must_use]
    #[track_caller]
    pub fn new(window_strides: impl AsShape, padding: Padding) -> Self {
        Convolution {
            window_strides: lengths("convolution", &window_strides).into_vec(),
            padding,
            lhs_dilation: Vec::new(),
            rhs_dilation: Vec::new(),
            dimension_numbers: None,
            feature_group_count: 1,
            batch_group_count: 1,
            precision: None,
            preferred_element_type: None,
        }
    }

    /// With axes named by letters, as JAX has them: `("NHWC", "HWIO", "NHWC")`. `N` is the batch, `C` the features, `O` and `I`
    /// those of the kernel's results and inputs; other letters are axes of space, in the order of the kernel.
    ///
    /// # Panics
    /// When a letter is missing or named twice.
    #[must_use]
    #[track_caller]
    pub fn layout(mut self, lhs: &str, rhs: &str, out: &str) -> Self {
        self.dimension_numbers = Some(conv_dimension_numbers(lhs, rhs, out));
        self
    }
}

/// Dimension numbers from letters: see [`Convolution::layout`].
///
/// # Panics
/// When a letter is missing or named twice.
#[track_caller]
pub fn conv_dimension_numbers(lhs: &str, rhs: &str, out: &str) -> ConvDimensionNumbers {
    let _named = crate::trace::named("conv_dimension_numbers");
    let space: Vec<char> = rhs.chars().filter(|c| !matches!(c, 'O' | 'I')).collect();
    let spec = |layout: &str, first: char, second: char| -> Dims {
        let place = |wanted: char| {
            let mut found = layout.chars().enumerate().filter(|&(_, c)| c == wanted);
            match (found.next(), found.next()) {
                (Some((place, _)), None) if layout.chars().count() == space.len() + 2 => place,
                _ => raise(
                    Error::parameter(format!(
                        "the layout `{layout}` must name `{first}`, `{second}` and each axis of space of `{rhs}` once"
                    ))
                    .in_operation("conv_general_dilated"),
                ),
            }
        };
        [first, second]
            .into_iter()
            .chain(space.iter().copied())
            .map(place)
            .collect()
    };
    ConvDimensionNumbers {
        lhs_spec: spec(lhs, 'N', 'C'),
        rhs_spec: spec(rhs, 'O', 'I'),
        out_spec: spec(out, 'N', 'C'),
    }
}

/// The convolution (without flip, a cross-correlation) of an input with a kernel.
///
/// # Panics
/// When shapes, element types or parameters do not fit.
///
/// ```
/// use jaxide::{Array, lax::{self, Convolution, Padding}};
/// let signal = Array::from([1.0f32, 2.0, 4.0, 8.0]).reshape(&[1, 4, 1]);
/// let kernel = Array::from([1.0f32, -1.0]).reshape(&[2, 1, 1]);
/// let how = Convolution::new(&[1], Padding::Valid).layout("NWC", "WIO", "NWC");
/// assert_eq!(lax::conv_general_dilated(&signal, &kernel, &how).to_vec::<f32>(), [-1.0, -2.0, -4.0]);
/// ```
#[track_caller]
pub fn conv_general_dilated(lhs: &Array, rhs: &Array, how: &Convolution) -> Array {
    let _named = crate::trace::named("conv_general_dilated");
    const OPERATION: &str = "conv_general_dilated";
    let rank = lhs.ndim();
    let numbers = how.dimension_numbers.clone().unwrap_or_else(|| {
        let spec: Dims = (0..rank).collect();
        ConvDimensionNumbers {
            lhs_spec: spec.clone(),
            rhs_spec: spec.clone(),
            out_spec: spec,
        }
    });
    let space = rank.saturating_sub(2);
    let or_ones = |given: &[usize]| {
        if given.is_empty() {
            vec![1; space]
        } else {
            given.to_vec()
        }
    };
    let (lhs_dilation, rhs_dilation) = (or_ones(&how.lhs_dilation), or_ones(&how.rhs_dilation));
    let fits = rank >= 2
        && rhs.ndim() == rank
        && [&numbers.lhs_spec, &numbers.rhs_spec, &numbers.out_spec]
            .iter()
            .all(|spec| spec.len() == rank && spec.iter().all(|&axis| axis < rank))
        && [&how.window_strides, &lhs_dilation, &rhs_dilation]
            .iter()
            .all(|given| given.len() == space);
    if !fits {
        raise(
            Error::shape(format!(
                "an input {} and a kernel {} do not fit {} strides and the dimension numbers",
                lhs.aval(),
                rhs.aval(),
                how.window_strides.len()
            ))
            .in_operation(OPERATION),
        );
    }
    let lengths = |x: &Array, spec: &Dims, dilation: &[usize]| -> Vec<usize> {
        spec[2..]
            .iter()
            .zip(dilation)
            .map(|(&axis, &d)| dilated(x.shape()[axis], d))
            .collect()
    };
    let padding = how.padding.amounts(
        &lengths(lhs, &numbers.lhs_spec, &lhs_dilation),
        &lengths(rhs, &numbers.rhs_spec, &rhs_dilation),
        &how.window_strides,
    );
    let prim = prims::ConvGeneralDilated {
        batch_group_count: how.batch_group_count,
        dimension_numbers: numbers,
        feature_group_count: how.feature_group_count,
        lhs_dilation: dims(&lhs_dilation),
        out_sharding: Opaque::none(),
        padding,
        precision: how.precision.clone(),
        preferred_element_type: how.preferred_element_type,
        rhs_dilation: dims(&rhs_dilation),
        window_strides: dims(&how.window_strides),
    };
    bind_one(prim, &[lhs.clone(), rhs.clone()])
}

/// The convolution of an input (batch, feature, space) with a kernel (output feature, input feature, space).
///
/// # Panics
/// As [`conv_general_dilated`].
#[track_caller]
pub fn conv(lhs: &Array, rhs: &Array, window_strides: impl AsShape, padding: Padding) -> Array {
    let _named = crate::trace::named("conv");
    conv_general_dilated(lhs, rhs, &Convolution::new(window_strides, padding))
}
