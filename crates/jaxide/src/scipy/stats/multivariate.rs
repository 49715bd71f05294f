//! Distributions of vectors.

/// The Dirichlet distribution, on vectors of positive numbers whose sum is 1.
pub mod dirichlet {
    use jaxide_core::Error;

    use crate::array::Array;
    use crate::numpy::where_;
    use crate::scipy::operands::constant;
    use crate::scipy::special::{gammaln, xlogy};
    use crate::trace::raise;
    use crate::{lax, numpy};

    /// Logarithm of the density: `x` has the components along its first axis, of which the last may be left out.
    ///
    /// # Panics
    /// When `alpha` is not a vector, or `x` does not fit it.
    ///
    /// ```
    /// use jaxide::scipy::stats::dirichlet;
    /// let log = dirichlet::logpdf([0.5f32, 0.5], [1.0f32, 1.0]);
    /// assert_eq!(log.item::<f32>(), 0.0);
    /// ```
    #[track_caller]
    pub fn logpdf(x: impl Into<Array>, alpha: impl Into<Array>) -> Array {
        let _named = crate::trace::named("dirichlet.logpdf");
        const NAME: &str = "dirichlet.logpdf";
        let [x, alpha] = super::promoted(NAME, [x.into(), alpha.into()]);
        let fits = alpha.ndim() == 1
            && x.ndim() > 0
            && [alpha.size(), alpha.size().wrapping_sub(1)].contains(&x.shape()[0]);
        if !fits {
            let error = format!(
                "a vector is needed and as many components or one fewer, and {} and {} are given",
                alpha.aval(),
                x.aval()
            );
            raise(Error::shape(error).in_operation(NAME));
        }
        let one = constant(&x, 1.0);
        let x = if x.shape()[0] == alpha.size() {
            x
        } else {
            let sum = lax::expand_dims(&numpy::sum(&x, [0]), &[0]);
            lax::concatenate(&[x, &one - sum], 0)
        };
        let normal = numpy::sum(&gammaln(&alpha), ());
        let normal = normal - gammaln(numpy::sum(&alpha, ()));
        let alpha = if x.ndim() > 1 {
            let mut shape = vec![1; x.ndim()];
            shape[0] = alpha.size();
            lax::broadcast_in_dim(&alpha, &shape, [0])
        } else {
            alpha
        };
        let log = numpy::sum(&xlogy(alpha - one, &x), [0]) - normal;
        let sum = numpy::sum(&x, [0]);
        let positive = numpy::all(&x.gt(0), [0]);
        let simplex = positive & (sum - 1).abs().lt(constant(&x, 1e-6));
        where_(&simplex, log, f64::NEG_INFINITY)
    }

    /// Density.
    ///
    /// # Panics
    /// As [`logpdf`].
    #[track_caller]
    pub fn pdf(x: impl Into<Array>, alpha: impl Into<Array>) -> Array {
        let _named = crate::trace::named("dirichlet.pdf");
        lax::exp(&logpdf(x, alpha))
    }
}

/// The multinomial distribution: how often each of several things comes in `n` trials.
pub mod multinomial {
    use jaxide_core::Error;

    use crate::array::{Array, promote_dtypes};
    use crate::numpy::where_;
    use crate::scipy::operands::inexact;
    use crate::scipy::special::{gammaln, xlogy};
    use crate::trace::raise;
    use crate::{lax, numpy};

    /// Logarithm of the probability of counts `x`, along the last axis; `p` are the probabilities of the things.
    ///
    /// # Panics
    /// When `x` or `n` are not integers, or shapes do not broadcast.
    ///
    /// ```
    /// use jaxide::scipy::stats::multinomial;
    /// let p = multinomial::pmf([1, 1], 2, [0.5f32, 0.5]).item::<f32>();
    /// assert!((p - 0.5).abs() < 1e-6);
    /// ```
    #[track_caller]
    pub fn logpmf(x: impl Into<Array>, n: impl Into<Array>, p: impl Into<Array>) -> Array {
        let _named = crate::trace::named("multinomial.logpmf");
        const NAME: &str = "multinomial.logpmf";
        let [p] = inexact(NAME, [p.into()]);
        let (x, n) = (x.into(), n.into());
        let [x, n] = promote_dtypes(NAME, [&x, &n]);
        if !x.dtype().is_integer() {
            let error = format!(
                "counts must be integers, and {} and {} are given",
                x.aval(),
                n.aval()
            );
            raise(Error::dtype(error).in_operation(NAME));
        }
        let last = [x.ndim().saturating_sub(1)];
        let total = lax::reduce_sum(&x, last);
        let possible = total.equal(&n);
        let (x, n) = (x.astype(p.dtype()), n.astype(p.dtype()));
        let all = gammaln(n + 1);
        let logs = xlogy(&x, p);
        let terms = logs - gammaln(x + 1);
        let log = all + numpy::sum(&terms, [-1]);
        where_(&possible, log, f64::NEG_INFINITY)
    }

    /// Probability of counts.
    ///
    /// # Panics
    /// As [`logpmf`].
    #[track_caller]
    pub fn pmf(x: impl Into<Array>, n: impl Into<Array>, p: impl Into<Array>) -> Array {
        let _named = crate::trace::named("multinomial.pmf");
        lax::exp(&logpmf(x, n, p))
    }
}

/// The normal distribution of vectors.
pub mod multivariate_normal {
    use jaxide_core::Error;

    use crate::array::Array;
    use crate::lax::linalg::{self, Triangular};
    use crate::numpy::Vectorize;
    use crate::trace::raise;
    use crate::{lax, numpy};

    /// Logarithm of the density at `x`, whose last axis has the components, and others are broadcast with those of the mean and of
    /// the covariance: a matrix, or a number for a multiple of the identity. A mean without axes is that of a number.
    ///
    /// # Panics
    /// When the covariance does not fit the mean, or shapes do not broadcast.
    ///
    /// ```
    /// use jaxide::scipy::stats::multivariate_normal;
    /// let p = multivariate_normal::pdf([0.0f32, 0.0], [0.0f32, 0.0], [[1.0f32, 0.0], [0.0, 1.0]]);
    /// assert!((p.item::<f32>() - 0.15915494).abs() < 1e-6);
    /// ```
    #[track_caller]
    pub fn logpdf(x: impl Into<Array>, mean: impl Into<Array>, cov: impl Into<Array>) -> Array {
        let _named = crate::trace::named("multivariate_normal.logpdf");
        const NAME: &str = "multivariate_normal.logpdf";
        let [x, mean, cov] = super::promoted(NAME, [x.into(), mean.into(), cov.into()]);
        let turn = || super::super::turn(&cov).log();
        if mean.ndim() == 0 {
            let quadratic = -0.5 * numpy::square(&(x - mean)) / &cov;
            return quadratic - 0.5 * (turn() + cov.log());
        }
        let n = mean.shape()[mean.ndim() - 1];
        if cov.ndim() == 0 {
            let y = x - mean;
            let sum = squares(&y);
            return -0.5 * sum / &cov - n as f64 / 2.0 * (turn() + cov.log());
        }
        let square = cov.ndim() >= 2 && cov.shape()[cov.ndim() - 2..] == [n, n];
        if !square {
            let error = format!(
                "the covariance {} does not fit the mean {}",
                cov.aval(),
                mean.aval()
            );
            raise(Error::shape(error).in_operation(NAME));
        }
        let factor = linalg::cholesky(&cov, true);
        let solve = |own: &[Array]| {
            let how = Triangular {
                lower: true,
                transpose_a: true,
                ..Triangular::default()
            };
            let row = lax::expand_dims(&own[1], &[0]);
            let solution = linalg::triangular_solve(&own[0], &row, how);
            vec![lax::squeeze(&solution, &[0])]
        };
        let solve = numpy::vectorize(solve, Vectorize::new().signature("(n,n),(n)->(n)"));
        let y = &solve(&[factor.clone(), x - mean])[0];
        let exponent = -0.5 * squares(y) - n as f64 / 2.0 * turn();
        let last = numpy::Diagonal::new().axis1(-1).axis2(-2);
        exponent - numpy::sum(&numpy::diagonal(&factor, last).log(), [-1])
    }

    /// Sums of squares along the last axis.
    #[track_caller]
    fn squares(y: &Array) -> Array {
        numpy::einsum("...i,...i->...", &[y.clone(), y.clone()], ())
    }

    /// Density.
    ///
    /// # Panics
    /// As [`logpdf`].
    #[track_caller]
    pub fn pdf(x: impl Into<Array>, mean: impl Into<Array>, cov: impl Into<Array>) -> Array {
        let _named = crate::trace::named("multivariate_normal.pdf");
        lax::exp(&logpdf(x, mean, cov))
    }
}

/// Operands with their common element type, at least float; shapes stay.
#[track_caller]
fn promoted<const N: usize>(
    name: &str,
    operands: [crate::array::Array; N],
) -> [crate::array::Array; N] {
    let operands = crate::array::promote_dtypes(name, operands.each_ref());
    operands.map(|x| {
        let [x] = crate::scipy::operands::inexact(name, [x]);
        x
    })
}
