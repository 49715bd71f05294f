//! Random orders and choices.

use jaxide_core::prims::{self, Opaque, SearchSide};
use jaxide_core::{DType, Dims, Error, Scalar};

use super::given::{inexact, sampled_shape, single};
use super::keys::words;
use super::{Categorical, Choice, Gumbel, Permutation, gumbel, number, randint, split, uniform};
use crate::array::{Array, Repr, lengths, normalize_axis};
use crate::trace::{bind_one, library, raise};
use crate::{lax, numpy};

/// The slices of `x` along an axis in random order; for an integer, the numbers below it, as `i32`.
///
/// # Panics
/// When there is no such axis, or a number is not a whole one of the program that is at least 0.
///
/// ```
/// use jaxide::{Array, random};
/// let mut order = random::permutation(&random::key(0), 5, ()).to_vec::<i32>();
/// order.sort();
/// assert_eq!(order, [0, 1, 2, 3, 4]);
/// let columns = random::permutation(&random::key(0), [[1, 2, 3], [1, 2, 3]], 1).to_vec::<i32>();
/// assert_eq!(columns[..3], columns[3..]);
/// ```
#[track_caller]
pub fn permutation(key: &Array, x: impl Into<Array>, options: impl Into<Permutation>) -> Array {
    let _named = crate::trace::named("permutation");
    let Permutation { axis, independent } = options.into();
    let x = &x.into();
    let key = &single("permutation", key);
    let axis = normalize_axis("permutation", axis, x.ndim().max(1));
    if x.ndim() == 0 {
        if !x.dtype().is_integer() {
            let error = format!("a count is an integer, and {} is given", x.aval());
            raise(Error::dtype(error).in_operation("permutation"));
        }
        let count = count("permutation", x);
        return shuffle(key, &lax::iota(DType::I32, &[count], 0), axis);
    }
    if independent || x.ndim() == 1 {
        return shuffle(key, x, axis);
    }
    let places = lax::iota(DType::I32, &[x.shape()[axis]], 0);
    numpy::take_rows(x, &shuffle(key, &places, 0), axis, true)
}

/// A number of the program, or an array of one, as a count.
#[track_caller]
fn count(operation: &str, x: &Array) -> usize {
    let value = match &x.0 {
        Repr::Number(literal) => Some(literal.value),
        _ => x.value().scalar_at(0),
    };
    // What has a fraction is cut.
    let whole = value.and_then(Scalar::as_integer);
    match whole.map(usize::try_from) {
        Some(Ok(count)) => count,
        _ => {
            let error = format!(
                "a count is a whole number that is not negative, and {} is given",
                x.aval()
            );
            raise(Error::parameter(error).in_operation(operation))
        }
    }
}

/// Sorts by random words until ties are improbable: Tjablin's bound on the number of rounds.
fn shuffle(key: &Array, x: &Array, axis: usize) -> Array {
    library("_shuffle", &axis.to_string(), [key, x], |[key, x]| {
        let count = x.size().max(1) as f64;
        let rounds = (3.0 * count.ln() / f64::from(u32::MAX).ln()).ceil() as usize;
        let (mut key, mut x) = (key.clone(), x.clone());
        for _ in 0..rounds {
            let [next, now] = split(&key, 2).unpack();
            let order = words(&now, x.shape(), 32);
            x = lax::sort(&[order, x], axis, 1)[1].clone();
            key = next;
        }
        x
    })
}

/// Slices of `x` along an axis, drawn at random: the shape that is given stands in the place of the axis. For an integer, numbers
/// below it.
///
/// # Panics
/// When there is nothing to draw from, less than is to be drawn without replacement, or `p` is not a vector with a probability for each.
///
/// ```
/// use jaxide::{Array, random};
/// let x = Array::from([10, 20, 30]);
/// let all = random::choice(&random::key(0), &x, random::Choice::new().shape(3).replace(false));
/// assert_eq!(all.sum().item::<i32>(), 60);
/// let sure = random::choice(&random::key(0), 3, random::Choice::new().shape(2).p([0.0f32, 0.0, 1.0]));
/// assert_eq!(sure.to_vec::<i32>(), [2, 2]);
/// ```
#[track_caller]
pub fn choice(key: &Array, x: impl Into<Array>, options: impl Into<Choice>) -> Array {
    let _named = crate::trace::named("choice");
    let Choice {
        shape,
        replace,
        p,
        axis,
        mode,
    } = options.into();
    let x = &x.into();
    let key = &single("choice", key);
    let shape = sampled_shape("choice", shape.as_ref(), &[]);
    let (axis, inputs) = if x.ndim() == 0 {
        (None, count("choice", x))
    } else {
        let axis = normalize_axis("choice", axis, x.ndim());
        (Some(axis), x.shape()[axis])
    };
    let draws: usize = shape.iter().product();
    if draws == 0 {
        return lax::full(&shape, 0, x.dtype());
    }
    let refuse = |text: String| -> ! { raise(Error::parameter(text).in_operation("choice")) };
    if inputs == 0 {
        refuse(format!("{} has nothing to draw", x.aval()));
    }
    if !replace && draws > inputs {
        refuse(format!(
            "{draws} of {inputs} are to be drawn without replacement"
        ));
    }
    let taken = |places: Array| match axis {
        None => places,
        Some(axis) => numpy::take_rows(x, &places, axis, false),
    };
    let positions = numpy::position_type(x);
    let drawn = match p {
        None if replace => taken(randint(key, &shape, 0, inputs, positions)),
        None => {
            let all = match axis {
                None => permutation(key, inputs, ()),
                Some(axis) => permutation(key, x, axis),
            };
            let axis = axis.unwrap_or(0);
            let mut limits = all.shape().to_vec();
            limits[axis] = draws;
            lax::slice(&all, vec![0; limits.len()], &limits, None)
        }
        Some(p) => {
            let [p] = inexact("choice", [&p]);
            if p.shape() != [inputs] {
                refuse(format!(
                    "{} are no probabilities of {inputs} things",
                    p.aval()
                ));
            }
            let dtype = p.dtype();
            let places = if replace {
                let sums = library("cumsum", "", [&p], |[p]| lax::cumsum(p, 0, false));
                let last = lax::slice(&sums, [inputs - 1], [inputs], None);
                let rest = number(1.0, dtype);
                let total = lax::squeeze(&last, &[0]);
                let drawn = total * (rest - uniform(key, &shape, dtype, 0.0, 1.0));
                library("searchsorted", "left", [&sums, &drawn], |[sums, drawn]| {
                    lax::searchsorted(sums, drawn, SearchSide::Left)
                })
            } else {
                let noise = gumbel(key, inputs, Gumbel::new().dtype(dtype).mode(mode));
                lax::top_k(&(noise + lax::log(&p)), draws).1
            };
            taken(places)
        }
    };
    let around = match axis {
        None => shape,
        Some(axis) => [&x.shape()[..axis], &shape, &x.shape()[axis + 1..]].concat(),
    };
    lax::reshape(&drawn, &around)
}

/// For each row along an axis an index, with probabilities proportional to the exponentials of `logits`: `i32`, and `i64` beside
/// elements of 64 bits.
///
/// # Panics
/// When there is no such axis, `logits` are not floating-point, the shape does not end with that of the rows, or more indices are to be
/// drawn without replacement than there are.
///
/// ```
/// use jaxide::{Array, random};
/// let logits = Array::from([[0.0f32, -1e9, -1e9], [-1e9, -1e9, 0.0]]);
/// assert_eq!(random::categorical(&random::key(0), &logits, -1).to_vec::<i32>(), [0, 2]);
/// let many = random::Categorical::new().shape([4, 2]);
/// assert_eq!(random::categorical(&random::key(0), &logits, many).shape(), [4, 2]);
/// ```
#[track_caller]
pub fn categorical(
    key: &Array,
    logits: impl Into<Array>,
    options: impl Into<Categorical>,
) -> Array {
    let _named = crate::trace::named("categorical");
    let Categorical {
        axis,
        shape,
        replace,
        mode,
    } = options.into();
    let logits = &logits.into();
    let key = &single("categorical", key);
    let axis = normalize_axis("categorical", axis, logits.ndim());
    let categories = logits.shape()[axis];
    let mut batch = logits.shape().to_vec();
    batch.remove(axis);
    let shape = match shape {
        None => batch.clone(),
        Some(shape) => lengths("categorical", &shape[..]).to_vec(),
    };
    numpy::check_broadcast_to("categorical", &batch, &shape);
    let (prefix, own) = shape.split_at(shape.len() - batch.len());
    let noise = Gumbel::new().dtype(logits.dtype()).mode(mode);
    // The largest of logits with Gumbel noise is distributed as wanted.
    if replace {
        let noisy = [prefix, &own[..axis], &[categories], &own[axis..]].concat();
        let added: Vec<usize> = (0..prefix.len()).collect();
        let noise = gumbel(key, &noisy, noise);
        let logits = lax::expand_dims(logits, &added);
        return numpy::argmax(&numpy::add(&noise, &logits), prefix.len() + axis);
    }
    let noisy = logits + gumbel(key, logits.shape(), noise);
    let draws: usize = prefix.iter().product();
    if draws > categories {
        let error =
            format!("{draws} of {categories} categories are to be drawn without replacement");
        raise(Error::parameter(error).in_operation("categorical"));
    }
    let last: Vec<usize> = (0..noisy.ndim())
        .filter(|&own| own != axis)
        .chain([axis])
        .collect();
    let (_, indices) = lax::top_k(&lax::transpose(&noisy, &last), draws);
    if indices.ndim() == 1 {
        return lax::reshape(&indices, &shape);
    }
    let rank = indices.ndim();
    let prim = prims::Reshape {
        dimensions: Some(std::iter::once(rank - 1).chain(0..rank - 1).collect()),
        new_sizes: Dims::from_slice(&shape),
        sharding: Opaque::none(),
    };
    bind_one(prim, &[indices])
}
