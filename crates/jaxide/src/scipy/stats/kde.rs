//! Estimates of densities by kernels.

use jaxide_core::{DType, Error};

use super::statistics::places;
use jaxide_tree::Pytree;

use crate::array::{Array, AsShape, promote_dtypes};
use crate::lax::linalg::{self, Triangular};
use crate::options::options;
use crate::scipy::operands::{constant, inexact};
use crate::scipy::special::{LogSumExp, logsumexp, ndtr};
use crate::trace::raise;
use crate::{lax, numpy, random, vmap_of};

const PI: f64 = std::f64::consts::PI;

/// How wide the kernels of [`gaussian_kde`] are.
#[derive(Clone, Debug, Default)]
pub enum Bandwidth {
    /// `n^(-1 / (d + 4))` standard deviations, for `n` points of `d` numbers.
    #[default]
    Scott,
    /// `(n (d + 2) / 4)^(-1 / (d + 4))` standard deviations.
    Silverman,
    /// So many standard deviations.
    Factor(Array),
}

impl From<f64> for Bandwidth {
    fn from(factor: f64) -> Self {
        Bandwidth::Factor(Array::from(factor))
    }
}

options! {
    /// What [`gaussian_kde`] takes beside the points.
    pub struct GaussianKdeOptions {
        /// How wide the kernels are.
        bw_method: Bandwidth = Bandwidth::Scott, |bw_method: impl Into<Bandwidth>| bw_method.into();
        /// A weight for each point.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
    }
}

/// An estimate of a density by Gaussian kernels around points: [`gaussian_kde`] makes one. A tree of its arrays.
#[derive(Clone, Debug, Pytree)]
pub struct GaussianKde {
    /// The effective number of points.
    pub neff: Array,
    /// The points: a row for each coordinate.
    pub dataset: Array,
    /// The weights of the points, whose sum is 1.
    pub weights: Array,
    /// The covariance of the kernels.
    pub covariance: Array,
    /// Its inverse.
    pub inv_cov: Array,
}

/// A density estimated from points, `dataset`: a vector of numbers, or a matrix with a row for each coordinate. Its covariance must
/// be positive definite.
///
/// # Panics
/// When there are fewer than two points, they are complex, or the weights do not fit.
///
/// ```
/// use jaxide::scipy::stats;
/// let kde = stats::gaussian_kde([0.0f32, 1.0, 2.0], ());
/// let p = kde.pdf([1.0f32, 100.0]).to_vec::<f32>();
/// assert!(p[0] > 0.3 && p[1] == 0.0);
/// ```
#[track_caller]
pub fn gaussian_kde(
    dataset: impl Into<Array>,
    options: impl Into<GaussianKdeOptions>,
) -> GaussianKde {
    let _named = crate::trace::named("gaussian_kde");
    const NAME: &str = "gaussian_kde";
    let GaussianKdeOptions { bw_method, weights } = options.into();
    let dataset = as_rows(NAME, &dataset.into());
    if dataset.size() < 2 {
        let error = format!(
            "several numbers are needed, and {} is given",
            dataset.aval()
        );
        raise(Error::shape(error).in_operation(NAME));
    }
    let (d, n) = (dataset.shape()[0], dataset.shape()[1]);
    let (dataset, weights) = match weights {
        None => {
            let [dataset] = inexact(NAME, [dataset]);
            let weights = numpy::broadcast_to(&constant(&dataset, 1.0 / n as f64), [n]);
            (dataset, weights)
        }
        Some(weights) => {
            if weights.shape() != [n] {
                let error = format!("{n} weights are needed, and {} is given", weights.aval());
                raise(Error::shape(error).in_operation(NAME));
            }
            let [dataset, weights] = promote_dtypes(NAME, [&dataset, &weights]);
            let ([dataset], [weights]) = (inexact(NAME, [dataset]), inexact(NAME, [weights]));
            let sum = weights.sum();
            (dataset, weights / sum)
        }
    };
    let neff: Array = 1 / numpy::square(&weights).sum();
    let power = -1.0 / (d as f64 + 4.0);
    let factor = match bw_method {
        Bandwidth::Scott => neff.pow(power),
        Bandwidth::Silverman => (&neff * (d as f64 + 2.0) / 4.0).pow(power),
        Bandwidth::Factor(factor) => factor,
    };
    let covariance = weighted_covariance(&dataset, &weights);
    let inverse = inverse(&covariance);
    let squared = numpy::square(&factor);
    GaussianKde {
        neff,
        covariance: covariance * &squared,
        inv_cov: inverse / squared,
        dataset,
        weights,
    }
}

/// A vector as one row; a matrix as it is.
#[track_caller]
fn as_rows(operation: &str, x: &Array) -> Array {
    if x.dtype().is_complex() || x.ndim() > 2 {
        let error = format!(
            "a vector or matrix that is not complex is needed, and {} is given",
            x.aval()
        );
        raise(Error::shape(error).in_operation(operation));
    }
    match x.ndim() {
        0 => lax::reshape(x, [1, 1]),
        1 => lax::reshape(x, [1, x.size()]),
        _ => x.clone(),
    }
}

/// The unbiased covariance of points with weights whose sum is 1.
#[track_caller]
fn weighted_covariance(dataset: &Array, weights: &Array) -> Array {
    let mean = lax::expand_dims(&numpy::sum(&(dataset * weights), [1]), &[1]);
    let delta = dataset - mean;
    let effective = 1 - numpy::square(weights).sum();
    numpy::matmul(&(&delta * weights), &delta.t()) / effective
}

/// The inverse of a symmetric matrix that is positive definite.
#[track_caller]
fn inverse(x: &Array) -> Array {
    let factor = linalg::cholesky(x, true);
    let eye = numpy::eye(x.shape()[0], x.dtype());
    solve(&factor, &eye)
}

/// The solution of a system whose matrix has a factor of Cholesky.
#[track_caller]
fn solve(factor: &Array, b: &Array) -> Array {
    let how = Triangular {
        left_side: true,
        lower: true,
        ..Triangular::default()
    };
    let half = linalg::triangular_solve(factor, b, how);
    let transposed = Triangular {
        transpose_a: true,
        ..how
    };
    linalg::triangular_solve(factor, &half, transposed)
}

/// The diagonal of a square matrix.
#[track_caller]
fn diagonal(x: &Array) -> Array {
    let at = numpy::eye(x.shape()[0], DType::Bool);
    numpy::sum(&lax::select(&at, x, &numpy::full_like(x, 0)), [-1])
}

impl GaussianKde {
    /// The number of coordinates.
    pub fn d(&self) -> usize {
        self.dataset.shape()[0]
    }

    /// The number of points.
    pub fn n(&self) -> usize {
        self.dataset.shape()[1]
    }

    /// The density at points: as many numbers. A vector is points of one coordinate, or one point.
    ///
    /// # Panics
    /// When the points have another number of coordinates.
    #[track_caller]
    pub fn pdf(&self, points: impl Into<Array>) -> Array {
        let _named = crate::trace::named("GaussianKde.pdf");
        self.at_points(points.into(), false)
    }

    /// As [`pdf`](Self::pdf).
    ///
    /// # Panics
    /// When the points have another number of coordinates.
    #[track_caller]
    pub fn evaluate(&self, points: impl Into<Array>) -> Array {
        let _named = crate::trace::named("GaussianKde.evaluate");
        self.at_points(points.into(), false)
    }

    /// Logarithm of the density at points.
    ///
    /// # Panics
    /// When the points have another number of coordinates.
    #[track_caller]
    pub fn logpdf(&self, points: impl Into<Array>) -> Array {
        let _named = crate::trace::named("GaussianKde.logpdf");
        self.at_points(points.into(), true)
    }

    #[track_caller]
    fn at_points(&self, points: Array, in_log: bool) -> Array {
        let given = as_rows("evaluate", &points);
        let points = if given.shape()[0] == self.d() {
            given
        } else if given.shape() == [1, self.d()] {
            lax::reshape(&given, [self.d(), 1])
        } else {
            let error = format!(
                "points of {} coordinates are needed, and {} is given",
                self.d(),
                points.aval()
            );
            raise(Error::shape(error).in_operation("evaluate"));
        };
        let [points, dataset] = promote_dtypes("evaluate", [&points, &self.dataset]);
        let whitening = linalg::cholesky(&self.inv_cov, true);
        let points = numpy::matmul(&points.t(), &whitening);
        let data = numpy::matmul(&dataset.t(), &whitening);
        let half_turn = constant(&whitening, 0.5 * self.d() as f64 * (2.0 * PI).ln());
        let normal = diagonal(&whitening).log().sum() - half_turn;
        let weights = &self.weights;
        let at = |x: Array| {
            let distance = numpy::sum(&numpy::square(&(&data - x)), [1]);
            let log = &normal - 0.5 * distance;
            if in_log {
                logsumexp(weights.log() + log, LogSumExp::new().axis([0]))
            } else {
                (weights * log.exp()).sum()
            }
        };
        vmap_of(&at, points)
    }

    /// The integral of the product with a normal density of some mean and covariance.
    ///
    /// # Panics
    /// When they do not fit.
    #[track_caller]
    pub fn integrate_gaussian(&self, mean: impl Into<Array>, cov: impl Into<Array>) -> Array {
        let _named = crate::trace::named("GaussianKde.integrate_gaussian");
        let (mean, cov) = (mean.into(), cov.into());
        let d = self.d();
        if mean.size() != d || cov.size() != d * d {
            let error = format!(
                "a mean of {d} numbers and their covariance are needed, and {} and {} are given",
                mean.aval(),
                cov.aval()
            );
            raise(Error::shape(error).in_operation("integrate_gaussian"));
        }
        let (mean, cov) = (lax::reshape(&mean, [d]), lax::reshape(&cov, [d, d]));
        let factor = linalg::cholesky(&(&self.covariance + cov), true);
        convolved(&factor, self, &mean)
    }

    /// The probability between two numbers, of points of one coordinate.
    ///
    /// # Panics
    /// When points have several coordinates.
    #[track_caller]
    pub fn integrate_box_1d(&self, low: impl Into<Array>, high: impl Into<Array>) -> Array {
        let _named = crate::trace::named("GaussianKde.integrate_box_1d");
        if self.d() != 1 {
            let error = format!("points have one coordinate, and here are {}", self.d());
            raise(Error::shape(error).in_operation("integrate_box_1d"));
        }
        let deviation = lax::reshape(&self.covariance.sqrt(), []);
        let data = self.dataset.index(0);
        let below = |limit: Array| ndtr((limit - &data) / &deviation);
        let high = below(high.into());
        (&self.weights * (high - below(low.into()))).sum()
    }

    /// The integral of the product with another estimate.
    ///
    /// # Panics
    /// When its points have another number of coordinates.
    #[track_caller]
    pub fn integrate_kde(&self, other: &GaussianKde) -> Array {
        let _named = crate::trace::named("GaussianKde.integrate_kde");
        if self.d() != other.d() {
            let error = format!("points have {} and {} coordinates", self.d(), other.d());
            raise(Error::shape(error).in_operation("integrate_kde"));
        }
        let factor = linalg::cholesky(&(&self.covariance + &other.covariance), true);
        let (small, large) = if self.n() < other.n() {
            (self, other)
        } else {
            (other, self)
        };
        let parts = vmap_of(
            &|mean: Array| convolved(&factor, large, &mean),
            small.dataset.t(),
        );
        (parts * &small.weights).sum()
    }

    /// Points drawn from the density: a row for each coordinate, and `shape` behind.
    ///
    /// # Panics
    /// When `key` is not a key.
    ///
    /// ```
    /// use jaxide::{random, scipy::stats};
    /// let kde = stats::gaussian_kde([0.0f32, 1.0, 2.0], ());
    /// assert_eq!(kde.resample(&random::key(0), [5]).shape(), [1, 5]);
    /// ```
    #[track_caller]
    pub fn resample(&self, key: &Array, shape: impl AsShape) -> Array {
        let _named = crate::trace::named("GaussianKde.resample");
        let shape = crate::array::lengths("resample", &shape);
        let keys = random::split(key, 2);
        let dtype = self.dataset.dtype();
        let sums = lax::cumsum(&self.weights, 0, false);
        let drawn = random::uniform(&keys.index(0), &shape, dtype, 0.0, 1.0);
        let chosen = places(&sums, &(sums.index(-1) * (1 - drawn)));
        let mut with_coordinates = shape.to_vec();
        with_coordinates.push(self.d());
        let normal = random::normal(&keys.index(1), &with_coordinates, dtype);
        let factor = linalg::cholesky(&self.covariance.astype(dtype), true);
        let noise = numpy::matmul(&normal, &factor.t());
        let mut order: Vec<usize> = (0..=shape.len()).rev().collect();
        let noise = lax::transpose(&noise, &order);
        order.truncate(shape.len());
        let rows: Vec<Array> = (0..self.d())
            .map(|row| self.dataset.index(row as i64).index(&chosen))
            .collect();
        lax::stack(&rows, 0) + noise
    }
}

/// The sum of the kernels of an estimate, widened to a covariance with factor `factor`, at a mean.
#[track_caller]
fn convolved(factor: &Array, kde: &GaussianKde, mean: &Array) -> Array {
    let scale = constant(mean, (2.0 * PI).sqrt().powi(kde.d() as i32));
    let normal = 1.0 / (scale * numpy::prod(&diagonal(factor), ()));
    let delta = &kde.dataset - lax::expand_dims(mean, &[1]);
    let solved = solve(factor, &delta);
    let distance: Array = 0.5 * numpy::sum(&(delta * solved), [0]);
    normal * ((-distance).exp() * &kde.weights).sum()
}
