//! Functions applied along axes.

use std::collections::BTreeMap;
use std::panic::Location;

use jaxide_core::{Error, ErrorKind};

use crate::api::vmap_axes;
use crate::array::{Array, Axes, Integer, normalize_axis};
use crate::lax;
use crate::numpy::common_shape;
use crate::options::options;
use crate::trace::raise;

/// A function of vectors applied to all vectors along an axis; its results take the place of the axis.
///
/// # Panics
/// When there is no such axis, or where the function does.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// let y = numpy::apply_along_axis(|row| numpy::sum(row, ()), 1, &x);
/// assert_eq!(y.to_vec::<i32>(), [3, 7]);
/// ```
#[track_caller]
pub fn apply_along_axis(
    func1d: impl Fn(&Array) -> Array,
    axis: impl Integer,
    arr: &Array,
) -> Array {
    let _named = crate::trace::named("apply_along_axis");
    let axis = normalize_axis("apply_along_axis", axis, arr.ndim());
    let behind = arr.ndim() - axis - 1;
    along(&func1d, axis, behind, arr)
}

/// `f` mapped over the axes before, and those behind.
#[track_caller]
fn along(f: &dyn Fn(&Array) -> Array, before: usize, behind: usize, x: &Array) -> Array {
    if before == 0 && behind == 0 {
        return f(x);
    }
    let (left, in_axis, out_axis) = match before {
        0 => ((0, behind - 1), behind as i32, -1),
        _ => ((before - 1, behind), 0, 0),
    };
    let lane = |args: Vec<Array>| vec![along(f, left.0, left.1, &args[0])];
    vmap_axes(&lane, vec![x.clone()], vec![Some(in_axis)], out_axis).swap_remove(0)
}

/// A reduction applied along axes, one after the other, which keep their places: `func` gets an array and an axis.
///
/// # Panics
/// When `func` gives an array of another rank than its operand's or one less.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// let sum = numpy::apply_over_axes(|x, axis| numpy::sum(x, axis), &x, [0, 1]);
/// assert_eq!((sum.shape(), sum.to_vec::<i32>()), (&[1, 1][..], vec![10]));
/// ```
#[track_caller]
pub fn apply_over_axes(func: impl Fn(&Array, i64) -> Array, a: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("apply_over_axes");
    let axes = axes.numbers().unwrap_or_default();
    axes.iter().fold(a.clone(), |a, &axis| {
        let result = func(&a, axis);
        if result.ndim() == a.ndim() {
            result
        } else if result.ndim() + 1 == a.ndim() {
            lax::expand_dims(&result, axis)
        } else {
            raise(
                Error::shape(format!(
                    "the function makes {} of {}",
                    result.aval(),
                    a.aval()
                ))
                .in_operation("apply_over_axes"),
            )
        }
    })
}

options! {
    /// What [`vectorize`] takes beside the function; a signature alone is one too.
    pub struct Vectorize {
        /// The axes of the function's arguments and results, as `(n,m),(m)->(n)`; scalars by default.
        signature: Option<String> = None, |signature: impl Into<String>| Some(signature.into());
        /// Arguments that are passed as they are.
        excluded: Vec<usize> = Vec::new(), |excluded: impl IntoIterator<Item = usize>| excluded.into_iter().collect();
    }
}

impl From<&str> for Vectorize {
    fn from(signature: &str) -> Self {
        Vectorize::new().signature(signature)
    }
}

/// The names of the axes of each argument, or result.
type Dimensions = Vec<Vec<String>>;

/// A function of arrays of few axes as one of arrays with more, over which it is mapped and which broadcast.
///
/// # Panics
/// When the signature cannot be read. The function given panics where arguments do not fit it, or `f` panics.
///
/// ```
/// use jaxide::{Array, numpy};
/// let dot = |x: &[Array]| vec![numpy::sum(&(&x[0] * &x[1]), ())];
/// let dots = numpy::vectorize(dot, "(n),(n)->()");
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(dots(&[x, Array::from([1, 1])])[0].to_vec::<i32>(), [3, 7]);
/// ```
#[track_caller]
pub fn vectorize(
    f: impl Fn(&[Array]) -> Vec<Array>,
    options: impl Into<Vectorize>,
) -> impl Fn(&[Array]) -> Vec<Array> {
    let _named = crate::trace::named("vectorize");
    let Vectorize {
        signature,
        excluded,
    } = options.into();
    let dimensions = signature.as_deref().map(|text| parsed(text));
    let place = Location::caller();
    move |args: &[Array]| {
        let _named = crate::trace::named_at("vectorize", place);
        vectorized(&f, dimensions.as_ref(), &excluded, args)
    }
}

#[track_caller]
fn mistake(text: String) -> ! {
    raise(Error::new(ErrorKind::Parameter, text).in_operation("vectorize"))
}

/// A signature as names of axes.
#[track_caller]
fn parsed(signature: &str) -> (Dimensions, Dimensions) {
    let text: String = signature.chars().filter(|c| !c.is_whitespace()).collect();
    let side = |text: &str| -> Option<Dimensions> {
        if text.is_empty() {
            return Some(Vec::new());
        }
        let inner = text.strip_prefix('(')?.strip_suffix(')')?;
        let names = |list: &str| -> Option<Vec<String>> {
            let names = list.split(',').filter(|name| !name.is_empty());
            let legal = |name: &str| name.chars().all(|c| c.is_alphanumeric() || c == '_');
            names
                .map(|name| legal(name).then(|| name.to_owned()))
                .collect()
        };
        inner.split("),(").map(names).collect()
    };
    let sides = text
        .split_once("->")
        .and_then(|(args, results)| Some((side(args)?, side(results)?)));
    sides.unwrap_or_else(|| mistake(format!("`{signature}` is no signature")))
}

/// Notes the lengths of named axes.
#[track_caller]
fn measure(sizes: &mut BTreeMap<String, usize>, shape: &[usize], names: &[String]) {
    let Some(first) = shape.len().checked_sub(names.len()) else {
        mistake(format!(
            "{shape:?} has fewer axes than ({})",
            names.join(",")
        ))
    };
    for (name, &length) in names.iter().zip(&shape[first..]) {
        let known = *sizes.entry(name.clone()).or_insert(length);
        if known != length {
            mistake(format!("the axis {name} has lengths {known} and {length}"));
        }
    }
}

#[track_caller]
fn vectorized(
    f: &dyn Fn(&[Array]) -> Vec<Array>,
    dimensions: Option<&(Dimensions, Dimensions)>,
    excluded: &[usize],
    args: &[Array],
) -> Vec<Array> {
    let mapped: Vec<usize> = (0..args.len())
        .filter(|at| !excluded.contains(at))
        .collect();
    let with_excluded = |own: &[Array]| {
        let mut all = args.to_vec();
        mapped
            .iter()
            .zip(own)
            .for_each(|(&at, x)| all[at] = x.clone());
        f(&all)
    };
    let core = match dimensions {
        Some((core, _)) if core.len() != mapped.len() => mistake(format!(
            "{} arguments are given for {} in the signature",
            mapped.len(),
            core.len()
        )),
        Some((core, _)) => core.clone(),
        None => vec![Vec::new(); mapped.len()],
    };
    let mut sizes = BTreeMap::new();
    let mut outer: Vec<&[usize]> = Vec::new();
    for (&at, names) in mapped.iter().zip(&core) {
        let shape = args[at].shape();
        measure(&mut sizes, shape, names);
        outer.push(&shape[..shape.len() - names.len()]);
    }
    let checked = |own: &[Array]| {
        let results = with_excluded(own);
        if let Some((_, wanted)) = dimensions {
            if results.len() != wanted.len() {
                mistake(format!(
                    "{} results are given for {} in the signature",
                    results.len(),
                    wanted.len()
                ));
            }
            let mut sizes = sizes.clone();
            for (result, names) in results.iter().zip(wanted) {
                if result.ndim() != names.len() {
                    mistake(format!(
                        "{} does not have the axes ({})",
                        result.aval(),
                        names.join(",")
                    ));
                }
                measure(&mut sizes, result.shape(), names);
            }
        }
        results
    };
    let rank = common_shape("vectorize", &outer).len();
    let squeezed: Vec<Array> = mapped
        .iter()
        .zip(&outer)
        .map(|(&at, outer)| {
            let ones: Vec<usize> = (0..outer.len()).filter(|&axis| outer[axis] == 1).collect();
            lax::squeeze(&args[at], &ones)
        })
        .collect();
    // For each axis of the result, from the last, which arguments have it.
    let mut levels: Vec<Vec<Option<i32>>> = Vec::new();
    let mut kept = Vec::new();
    for from_end in 0..rank {
        let has = |outer: &&[usize]| {
            let at = outer.len().checked_sub(from_end + 1)?;
            (outer[at] != 1).then_some(0)
        };
        let axes: Vec<Option<i32>> = outer.iter().map(has).collect();
        if axes.iter().all(Option::is_none) {
            kept.push(rank - 1 - from_end);
        } else {
            levels.push(axes);
        }
    }
    let results = over(&checked, &levels, squeezed);
    if kept.is_empty() {
        return results;
    }
    results.iter().map(|x| lax::expand_dims(x, &kept)).collect()
}

/// `f` mapped over levels of axes, the last of them outermost.
#[track_caller]
fn over(
    f: &dyn Fn(&[Array]) -> Vec<Array>,
    levels: &[Vec<Option<i32>>],
    args: Vec<Array>,
) -> Vec<Array> {
    match levels.split_last() {
        None => f(&args),
        Some((outermost, inner)) => {
            let lane = |args: Vec<Array>| over(f, inner, args);
            vmap_axes(&lane, args, outermost.clone(), 0)
        }
    }
}
