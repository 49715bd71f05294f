//! Dense matrices over `f64` and `Complex<f64>`, and the element types that widen into them.

use super::super::complex;
use super::super::float::Real;
use super::schur;
use num_complex::Complex;
use std::fmt::Debug;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// The element type of a matrix operand: `f32`, `f64` or a complex number over them.
pub trait Entry: Copy + Debug + Send + Sync + 'static {
    /// The type of moduli, singular values and eigenvalues of Hermitian matrices.
    type Real: Real;
    /// The type the factorisations compute in.
    type Wide: Field;

    /// The same number in the working precision.
    fn widen(self) -> Self::Wide;

    /// The nearest number of this type.
    fn round_from(x: Self::Wide) -> Self;
}

macro_rules! entry {
    ($($real:ty),*) => {$(
        impl Entry for $real {
            type Real = $real;
            type Wide = f64;

            fn widen(self) -> f64 {
                self.to_f64()
            }

            fn round_from(x: f64) -> Self {
                Real::round_from(x)
            }
        }

        impl Entry for Complex<$real> {
            type Real = $real;
            type Wide = Complex<f64>;

            fn widen(self) -> Complex<f64> {
                Complex::new(self.re.to_f64(), self.im.to_f64())
            }

            fn round_from(x: Complex<f64>) -> Self {
                Complex::new(Real::round_from(x.re), Real::round_from(x.im))
            }
        }
    )*};
}

entry!(f32, f64);

/// A field of the working precision: `f64` or `Complex<f64>`.
pub trait Field:
    Copy
    + Debug
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + Sum
    + From<f64>
    + Entry<Wide = Self>
{
    /// Whether the field is the complex one.
    const COMPLEX: bool;

    /// The complex conjugate; the number itself in a real field.
    fn conj(self) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The imaginary part; zero in a real field.
    fn im(self) -> f64;
    /// The number with both parts multiplied.
    fn scale(self, factor: f64) -> Self;
    /// The quotient, without undue overflow.
    fn over(self, divisor: Self) -> Self;
    /// NaN, in both parts.
    fn nan() -> Self;

    /// Brings an upper Hessenberg matrix `h` of n rows to Schur form in place, by similarity with a
    /// unitary matrix that `z` is multiplied with; false if the iteration does not converge.
    fn schur_from_hessenberg(h: &mut [Self], z: &mut [Self], n: usize) -> bool;

    /// The modulus.
    fn abs(self) -> f64 {
        libm::hypot(self.re(), self.im())
    }

    /// The square of the modulus.
    fn abs_square(self) -> f64 {
        self.re() * self.re() + self.im() * self.im()
    }
}

impl Field for f64 {
    const COMPLEX: bool = false;

    fn conj(self) -> Self {
        self
    }

    fn re(self) -> f64 {
        self
    }

    fn im(self) -> f64 {
        0.0
    }

    fn scale(self, factor: f64) -> Self {
        self * factor
    }

    fn over(self, divisor: Self) -> Self {
        self / divisor
    }

    fn nan() -> Self {
        f64::NAN
    }

    fn schur_from_hessenberg(h: &mut [Self], z: &mut [Self], n: usize) -> bool {
        in_place(h, z, n, schur::iterate_real)
    }
}

impl Field for Complex<f64> {
    const COMPLEX: bool = true;

    fn conj(self) -> Self {
        Complex::conj(&self)
    }

    fn re(self) -> f64 {
        self.re
    }

    fn im(self) -> f64 {
        self.im
    }

    fn scale(self, factor: f64) -> Self {
        Complex::new(self.re * factor, self.im * factor)
    }

    fn over(self, divisor: Self) -> Self {
        complex::div(self, divisor)
    }

    fn nan() -> Self {
        Complex::new(f64::NAN, f64::NAN)
    }

    fn schur_from_hessenberg(h: &mut [Self], z: &mut [Self], n: usize) -> bool {
        in_place(h, z, n, schur::iterate_complex)
    }
}

/// Runs an iteration on two matrices that are slices.
fn in_place<F: Field>(
    h: &mut [F],
    z: &mut [F],
    n: usize,
    iterate: fn(&mut Matrix<F>, &mut Matrix<F>) -> bool,
) -> bool {
    let (mut h_matrix, mut z_matrix) = (Matrix::widen(h, n, n), Matrix::widen(z, n, n));
    let converged = iterate(&mut h_matrix, &mut z_matrix);
    h.copy_from_slice(&h_matrix.data);
    z.copy_from_slice(&z_matrix.data);
    converged
}

/// A dense matrix in row-major order.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Matrix<F> {
    pub(super) rows: usize,
    pub(super) cols: usize,
    data: Vec<F>,
}

impl<F: Field> Matrix<F> {
    /// The matrix of an operand in row-major order.
    ///
    /// # Panics
    ///
    /// When the operand does not have the size that the shape says.
    pub(super) fn widen<E: Entry<Wide = F>>(operand: &[E], rows: usize, cols: usize) -> Self {
        assert_eq!(
            operand.len(),
            rows * cols,
            "entries of a {rows}×{cols} matrix"
        );
        Self {
            rows,
            cols,
            data: operand.iter().map(|&x| x.widen()).collect(),
        }
    }

    pub(super) fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> F) -> Self {
        let data = (0..rows).flat_map(|i| (0..cols).map(move |j| (i, j)));
        Self {
            rows,
            cols,
            data: data.map(|(i, j)| f(i, j)).collect(),
        }
    }

    /// Ones on the diagonal of a matrix that need not be square.
    pub(super) fn identity(rows: usize, cols: usize) -> Self {
        Self::from_fn(rows, cols, |i, j| F::from(f64::from(u8::from(i == j))))
    }

    pub(super) fn nan(rows: usize, cols: usize) -> Self {
        Self {
            rows,
            cols,
            data: vec![F::nan(); rows * cols],
        }
    }

    /// The entries in row-major order, rounded to the operand's type.
    pub(super) fn round<E: Entry<Wide = F>>(&self) -> Vec<E> {
        self.data.iter().map(|&x| E::round_from(x)).collect()
    }

    /// The entries in row-major order.
    pub(super) fn into_entries(self) -> Vec<F> {
        self.data
    }

    pub(super) fn adjoint(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)].conj())
    }

    pub(super) fn product(&self, other: &Self) -> Self {
        assert_eq!(self.cols, other.rows);
        Self::from_fn(self.rows, other.cols, |i, j| {
            (0..self.cols).map(|k| self[(i, k)] * other[(k, j)]).sum()
        })
    }

    pub(super) fn row(&self, i: usize) -> &[F] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    pub(super) fn row_mut(&mut self, i: usize) -> &mut [F] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    pub(super) fn column(&self, j: usize) -> Vec<F> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    pub(super) fn set_column(&mut self, j: usize, column: &[F]) {
        for (i, &x) in column.iter().enumerate() {
            self[(i, j)] = x;
        }
    }

    pub(super) fn swap_columns(&mut self, i: usize, j: usize) {
        for row in self.data.chunks_exact_mut(self.cols) {
            row.swap(i, j);
        }
    }

    pub(super) fn swap_rows(&mut self, i: usize, j: usize) {
        for k in 0..self.cols {
            self.data.swap(i * self.cols + k, j * self.cols + k);
        }
    }

    pub(super) fn scaled(mut self, factor: f64) -> Self {
        self.data.iter_mut().for_each(|x| *x = x.scale(factor));
        self
    }

    /// The largest absolute value of a real or imaginary part; zero for an empty matrix.
    pub(super) fn largest_entry(&self) -> f64 {
        self.data
            .iter()
            .map(|x| x.re().abs().max(x.im().abs()))
            .fold(0.0, f64::max)
    }

    /// Whether every entry is finite.
    pub(super) fn is_finite(&self) -> bool {
        self.data
            .iter()
            .all(|x| x.re().is_finite() && x.im().is_finite())
    }

    /// The columns `i` and `j` replaced by `c·aᵢ + s·aⱼ` and `-conj(s)·aᵢ + c·aⱼ`.
    pub(super) fn rotate_columns(&mut self, i: usize, j: usize, c: f64, s: F) {
        for row in self.data.chunks_exact_mut(self.cols) {
            let (x, y) = (row[i], row[j]);
            row[i] = x.scale(c) + s * y;
            row[j] = y.scale(c) - s.conj() * x;
        }
    }

    /// The rows `i` and `j` replaced by `c·aᵢ + s·aⱼ` and `-conj(s)·aᵢ + c·aⱼ`, from column `from`
    /// on.
    pub(super) fn rotate_rows(&mut self, i: usize, j: usize, c: f64, s: F, from: usize) {
        for k in from..self.cols {
            let (x, y) = (self[(i, k)], self[(j, k)]);
            self[(i, k)] = x.scale(c) + s * y;
            self[(j, k)] = y.scale(c) - s.conj() * x;
        }
    }
}

impl<F> Index<(usize, usize)> for Matrix<F> {
    type Output = F;

    fn index(&self, (i, j): (usize, usize)) -> &F {
        &self.data[i * self.cols + j]
    }
}

impl<F> IndexMut<(usize, usize)> for Matrix<F> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut F {
        &mut self.data[i * self.cols + j]
    }
}

/// 2⁻⁹⁶⁰: smaller numbers, divided by each other, may have lost digits, and their reciprocals are near the largest numbers.
pub(super) const LEAST: f64 = f64::from_bits((1023 - 960) << 52);

/// The Euclidean norm, scaled against overflow and underflow.
pub(super) fn norm<F: Field>(x: &[F]) -> f64 {
    let largest = x
        .iter()
        .map(|v| v.re().abs().max(v.im().abs()))
        .fold(0.0, f64::max);
    if largest == 0.0 || !largest.is_finite() {
        return x.iter().map(|v| v.abs()).sum();
    }
    if largest < LEAST {
        let larger: Vec<F> = x.iter().map(|v| v.scale(1.0 / LEAST)).collect();
        return norm(&larger) * LEAST;
    }
    let squares: f64 = x.iter().map(|v| v.scale(1.0 / largest).abs_square()).sum();
    largest * squares.sqrt()
}

/// Σ conj(xᵢ) yᵢ.
pub(super) fn dot<F: Field>(x: &[F], y: &[F]) -> F {
    x.iter().zip(y).map(|(&a, &b)| a.conj() * b).sum()
}
