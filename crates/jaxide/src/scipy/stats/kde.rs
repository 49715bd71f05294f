//! Estimates of densities by kernels.

use jaxide_core::Error;
use jaxide_tree::Pytree;

use super::turn;
use crate::api::flat::{flatten, unflatten};
use crate::api::vmap_list;
use crate::array::{Array, AsShape, promote_dtypes};
use crate::idx;
use crate::numpy::inexact_dtypes;
use crate::options::options;
use crate::scipy::linalg;
use crate::scipy::operands::inexact;
use crate::scipy::special::{LogSumExp, logsumexp, ndtr};
use crate::trace::library::library_call;
use crate::trace::raise;
use crate::{lax, numpy, random};

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
            let weights = lax::full([n], 1.0 / n as f64, dataset.dtype());
            (dataset, weights)
        }
        Some(weights) => {
            if weights.shape() != [n] {
                let error = format!("{n} weights are needed, and {} is given", weights.aval());
                raise(Error::shape(error).in_operation(NAME));
            }
            let [dataset, weights] = promote_dtypes(NAME, [&dataset, &weights]);
            let ([dataset], [weights]) = (inexact(NAME, [dataset]), inexact(NAME, [weights]));
            let weights = numpy::atleast_1d(&weights);
            let sum = weights.sum();
            (dataset, weights / sum)
        }
    };
    let neff: Array = 1 / numpy::power(&weights, 2).sum();
    let power = -1.0 / (d as f64 + 4.0);
    let factor = match bw_method {
        Bandwidth::Scott => neff.pow(power),
        Bandwidth::Silverman => (&neff * (d as i64 + 2) / 4.0).pow(power),
        Bandwidth::Factor(factor) => factor,
    };
    let covariance = numpy::cov(&dataset, numpy::Cov::new().aweights(&weights));
    let covariance = numpy::atleast_2d(&covariance);
    let inverse = numpy::linalg::inv(&covariance);
    let squared = || numpy::power(&factor, 2);
    let covariance = covariance * squared();
    let inv_cov = inverse / squared();
    GaussianKde {
        neff,
        covariance,
        inv_cov,
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
    numpy::atleast_2d(x)
}

impl GaussianKde {
    /// A function that JAX calls with the parts of the estimate and further operands.
    #[track_caller]
    fn called(
        &self,
        name: &str,
        key: &str,
        operands: &[Array],
        f: impl FnOnce(&GaussianKde, &[Array]) -> Array,
    ) -> Array {
        let all = flatten(self);
        let own = all.leaves.len();
        let operands = [&all.leaves[..], operands].concat();
        let mut results = library_call(name, key, &operands, |given| {
            let kde = unflatten(&all.treedef, given[..own].to_vec());
            vec![f(&kde, &given[own..])]
        });
        results.remove(0)
    }

    /// The factor of the sum of the covariances, and the largest value of that density.
    #[track_caller]
    fn joint(&self, covariance: Array) -> (Array, Array) {
        let (factor, _) = linalg::cho_factor(&(&self.covariance + covariance), ());
        let scale = turn(&factor).sqrt();
        let scale = numpy::power(&scale, self.d() as i64);
        let normal = 1.0 / (scale * numpy::prod(&numpy::diag(&factor, ()), ()));
        (factor, normal)
    }

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
        let operands = [
            lax::transpose(&self.dataset, ()),
            lax::expand_dims(&self.weights, &[1]),
            lax::transpose(&points, ()),
            self.inv_cov.clone(),
        ];
        let key = in_log.to_string();
        let results = library_call("_gaussian_kernel_eval", &key, &operands, |own| {
            vec![kernels_at(own, in_log)]
        });
        lax::squeeze(&results[0], &[1])
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
        let mean = numpy::atleast_1d(&numpy::squeeze(&mean, ()));
        let cov = lax::reshape(&numpy::atleast_2d(&cov), [d, d]);
        let (factor, normal) = self.joint(cov);
        convolved(&factor, &normal, self, &mean)
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
        let limits = [low.into(), high.into()];
        self.called("integrate_box_1d", "", &limits, |kde, limits| {
            let deviation = &numpy::squeeze(&kde.covariance.sqrt(), ());
            let scaled = |limit: &Array| numpy::squeeze(&((limit - &kde.dataset) / deviation), ());
            let (low, high) = (scaled(&limits[0]), scaled(&limits[1]));
            let high = ndtr(high);
            (&kde.weights * (high - ndtr(low))).sum()
        })
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
        let (factor, normal) = self.joint(other.covariance.clone());
        let (small, large) = if self.n() < other.n() {
            (self, other)
        } else {
            (other, self)
        };
        let of_mean = |own: &[Array]| vec![convolved(&factor, &normal, large, &own[0])];
        let parts = vmap_list(
            &of_mean,
            &[Some(1)],
            0,
            std::slice::from_ref(&small.dataset),
        );
        (&parts[0] * &small.weights).sum()
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
        let of = format!("{shape:?}");
        self.called("resample", &of, std::slice::from_ref(key), |kde, key| {
            let [for_places, for_noise] = random::split(&key[0], 2).unpack();
            let (d, dtype) = (kde.d(), kde.dataset.dtype());
            let choice = random::Choice::new().shape(&shape[..]).p(&kde.weights);
            let places = random::choice(&for_places, kde.n() as i64, choice);
            let mean = lax::full([d], 0, kde.covariance.dtype());
            let options = random::MultivariateNormal::new()
                .shape(&shape[..])
                .dtype(dtype);
            let noise = random::multivariate_normal(&for_noise, mean, &kde.covariance, options);
            let noise = lax::transpose(&noise, ());
            kde.dataset.at(idx![.., &places]).get() + noise
        })
    }
}

/// The estimate at points, from transposed data, weights, transposed points and the inverse of the covariance.
#[track_caller]
fn kernels_at(operands: &[Array], in_log: bool) -> Array {
    let [data, weights, points, inverse] = &inexact_dtypes(
        "evaluate",
        std::array::from_fn::<_, 4, _>(|index| &operands[index]),
    );
    let d = data.shape()[1];
    let whitening = linalg::cholesky(inverse, true);
    let data = &numpy::dot(data, &whitening);
    let points = numpy::dot(points, &whitening);
    let sum = numpy::sum(&numpy::diag(&whitening, ()).log(), ());
    let normal = &(sum - 0.5 * d as f64 * turn(&whitening).log());
    let at_point = |own: &[Array]| {
        let kernel = |train: &[Array]| {
            let distance = numpy::square(&(&train[0] - &own[0])).sum();
            let log = normal - 0.5 * distance;
            vec![if in_log {
                train[1].log() + log
            } else {
                &train[1] * log.exp()
            }]
        };
        let each = vmap_list(&kernel, &[Some(0); 2], 0, &[data.clone(), weights.clone()]);
        vec![if in_log {
            logsumexp(&each[0], LogSumExp::new().axis([0]))
        } else {
            numpy::sum(&each[0], [0])
        }]
    };
    vmap_list(&at_point, &[Some(0)], 0, &[points]).remove(0)
}

/// The integral of an estimate with a normal density, from the factor of both covariances and the largest value of that density.
#[track_caller]
fn convolved(factor: &Array, normal: &Array, kde: &GaussianKde, mean: &Array) -> Array {
    let delta = &kde.dataset - lax::expand_dims(mean, &[1]);
    let solved = linalg::cho_solve((factor, false), &delta);
    let distance: Array = 0.5 * numpy::sum(&(delta * solved), [0]);
    normal * ((-distance).exp() * &kde.weights).sum()
}
