//! Discrete Fourier transforms of any length, over the last axes of an array.
//!
//! Everything is computed in `f64` and rounded once. A length splits into its prime factors
//! (Cooley–Tukey); a large prime becomes a convolution of a power-of-two length (Bluestein), so
//! that no length costs more than O(n log n) times its largest small factor.

use super::float::Real;
use num_complex::Complex;

/// `FFT` (type 0), or with `inverse` `IFFT` (type 1): complex to complex over the last `axes` axes.
///
/// `shape` is the row-major shape of `input` and of the result. The forward transform is `Σ x_j
/// e^(-2πi jk/n)`; the inverse has the opposite sign and is divided by the lengths.
///
/// # Panics
///
/// When `input` does not have the shape's size, or the shape fewer than `axes` axes.
pub fn fft<T: Real>(
    input: &[Complex<T>],
    shape: &[usize],
    axes: usize,
    inverse: bool,
) -> Vec<Complex<T>> {
    check_size("fft", input.len(), shape);
    let mut data: Vec<_> = input.iter().map(|&z| widen(z)).collect();
    for axis in shape.len() - axes..shape.len() {
        transform_axis(&mut data, shape, axis, inverse);
    }
    data.into_iter().map(round).collect()
}

/// `RFFT` (type 2): real to complex over the last `axes` axes.
///
/// `shape` is that of `input`; the last axis of the result has `n / 2 + 1` entries, the others
/// following by symmetry.
///
/// # Panics
///
/// When `input` does not have the shape's size, `axes` is 0, or the shape has fewer axes.
pub fn rfft<T: Real>(input: &[T], shape: &[usize], axes: usize) -> Vec<Complex<T>> {
    check_size("rfft", input.len(), shape);
    let last = shape.len() - 1;
    let (n, kept) = (shape[last], shape[last] / 2 + 1);
    let batch: usize = shape[..last].iter().product();
    let mut half = Vec::with_capacity(batch * kept);
    for row in (0..batch).map(|i| &input[i * n..(i + 1) * n]) {
        let row = row.iter().map(|x| Complex::new(x.to_f64(), 0.0)).collect();
        let mut line = transform(row, false);
        line.resize(kept, Complex::default());
        half.extend(line);
    }
    let mut half_shape = shape.to_vec();
    half_shape[last] = kept;
    for axis in shape.len() - axes..last {
        transform_axis(&mut half, &half_shape, axis, false);
    }
    half.into_iter().map(round).collect()
}

/// `IRFFT` (type 3): complex to real over the last `axes` axes, the inverse of [`rfft`].
///
/// `shape` is that of `input`, `length` the last entry of `fft_lengths`: the length of the result's
/// last axis. Entries of a row beyond `length / 2 + 1` are ignored, missing ones count as zero, and
/// the imaginary parts of the first and (for even lengths) the middle one do not matter.
///
/// # Panics
///
/// When `input` does not have the shape's size, `axes` is 0, or the shape has fewer axes.
pub fn irfft<T: Real>(input: &[Complex<T>], shape: &[usize], axes: usize, length: usize) -> Vec<T> {
    check_size("irfft", input.len(), shape);
    let last = shape.len() - 1;
    let mut data: Vec<_> = input.iter().map(|&z| widen(z)).collect();
    for axis in shape.len() - axes..last {
        transform_axis(&mut data, shape, axis, true);
    }
    let batch: usize = shape[..last].iter().product();
    let mut result = Vec::with_capacity(batch * length);
    for i in 0..batch {
        let row = &data[i * shape[last]..(i + 1) * shape[last]];
        let given = |k: usize| row.get(k).copied().unwrap_or_default();
        let full = (0..length).map(|k| match (k, length - k) {
            (0, _) => given(0).re.into(),
            (k, mirror) if k == mirror => given(k).re.into(),
            (k, mirror) if k < mirror => given(k),
            (_, mirror) => given(mirror).conj(),
        });
        let row = transform(full.collect(), true);
        result.extend(row.iter().map(|z| T::round_from(z.re / length as f64)));
    }
    result
}

fn check_size(operation: &str, size: usize, shape: &[usize]) {
    let expected: usize = shape.iter().product();
    assert_eq!(
        size, expected,
        "{operation}: {size} entries for shape {shape:?}"
    );
}

fn widen<T: Real>(z: Complex<T>) -> Complex<f64> {
    Complex::new(z.re.to_f64(), z.im.to_f64())
}

fn round<T: Real>(z: Complex<f64>) -> Complex<T> {
    Complex::new(T::round_from(z.re), T::round_from(z.im))
}

/// Transforms along one axis in place, the inverse scaled.
fn transform_axis(data: &mut [Complex<f64>], shape: &[usize], axis: usize, inverse: bool) {
    let n = shape[axis];
    let stride: usize = shape[axis + 1..].iter().product();
    let scale = if inverse { 1.0 / n as f64 } else { 1.0 };
    for block in data.chunks_exact_mut((n * stride).max(1)) {
        for offset in 0..stride {
            let line = (0..n).map(|k| block[offset + k * stride]).collect();
            for (k, value) in transform(line, inverse).into_iter().enumerate() {
                block[offset + k * stride] = value * scale;
            }
        }
    }
}

/// The unscaled transform of one line.
fn transform(x: Vec<Complex<f64>>, inverse: bool) -> Vec<Complex<f64>> {
    let n = x.len();
    if n <= 1 {
        return x;
    }
    let factor = smallest_factor(n);
    if factor < n {
        cooley_tukey(&x, factor, inverse)
    } else if n <= 64 {
        direct(&x, inverse)
    } else {
        bluestein(&x, inverse)
    }
}

/// n = factor · m: transforms of the `factor` interleaved lines, combined.
fn cooley_tukey(x: &[Complex<f64>], factor: usize, inverse: bool) -> Vec<Complex<f64>> {
    let n = x.len();
    let m = n / factor;
    let lines: Vec<_> = (0..factor)
        .map(|r| transform(x.iter().skip(r).step_by(factor).copied().collect(), inverse))
        .collect();
    let roots = roots_of_unity(n, inverse);
    let term = |k: usize, r: usize| lines[r][k % m] * roots[k * r % n];
    (0..n)
        .map(|k| (0..factor).map(|r| term(k, r)).sum())
        .collect()
}

/// The definition.
fn direct(x: &[Complex<f64>], inverse: bool) -> Vec<Complex<f64>> {
    let n = x.len();
    let roots = roots_of_unity(n, inverse);
    (0..n)
        .map(|k| {
            x.iter()
                .enumerate()
                .map(|(j, z)| z * roots[j * k % n])
                .sum()
        })
        .collect()
}

/// jk = (j² + k² - (k - j)²) / 2 turns the sum into a convolution (L. I. Bluestein, 1970).
fn bluestein(x: &[Complex<f64>], inverse: bool) -> Vec<Complex<f64>> {
    let n = x.len();
    let half_turns = roots_of_unity(2 * n, inverse);
    // j² grows past the word size only for lengths beyond any memory.
    let chirp: Vec<_> = (0..n).map(|j| half_turns[j * j % (2 * n)]).collect();
    let size = (2 * n - 1).next_power_of_two();
    let mut signal = vec![Complex::default(); size];
    let mut kernel = vec![Complex::default(); size];
    for j in 0..n {
        signal[j] = x[j] * chirp[j];
        kernel[j] = chirp[j].conj();
        kernel[(size - j) % size] = chirp[j].conj();
    }
    let (signal, kernel) = (transform(signal, false), transform(kernel, false));
    let product = signal
        .iter()
        .zip(&kernel)
        .map(|(s, k)| s * k / size as f64)
        .collect();
    transform(product, true)
        .iter()
        .zip(&chirp)
        .map(|(z, c)| z * c)
        .collect()
}

/// e^(∓2πi k/n) for k below n.
fn roots_of_unity(n: usize, inverse: bool) -> Vec<Complex<f64>> {
    let turn = if inverse {
        std::f64::consts::TAU
    } else {
        -std::f64::consts::TAU
    };
    let root = |k: usize| {
        // Quarter turns are exact, so that real symmetries survive.
        let quarters = 4 * k;
        let exact = |re, im: f64| Complex::new(re, if inverse { im } else { -im });
        match quarters / n {
            0 if k == 0 => exact(1.0, 0.0),
            1 if quarters == n => exact(0.0, 1.0),
            2 if quarters == 2 * n => exact(-1.0, 0.0),
            3 if quarters == 3 * n => exact(0.0, -1.0),
            _ => {
                let (sin, cos) = libm::sincos(turn * (k as f64 / n as f64));
                Complex::new(cos, sin)
            }
        }
    };
    (0..n).map(root).collect()
}

fn smallest_factor(n: usize) -> usize {
    (2..n).find(|&f| n.is_multiple_of(f)).unwrap_or(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    type C = Complex<f64>;

    /// A line without structure.
    fn signal(n: usize) -> Vec<C> {
        let value = |i: usize, s: f64| libm::sin(s * (i * i + 3 * i) as f64);
        (0..n)
            .map(|i| C::new(value(i, 0.7), value(i, 1.3)))
            .collect()
    }

    fn distance(a: &[C], b: &[C]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).norm())
            .fold(0.0, f64::max)
    }

    #[test]
    fn every_route_is_the_definition() {
        for n in [1, 2, 3, 5, 6, 8, 12, 49, 61, 64, 67, 100, 131, 202] {
            let x = signal(n);
            assert!(
                distance(&transform(x.clone(), false), &direct(&x, false)) < 1e-11,
                "{n}"
            );
            assert!(
                distance(&transform(x.clone(), true), &direct(&x, true)) < 1e-11,
                "{n}"
            );
        }
    }

    #[test]
    fn inverse_over_several_axes() {
        let x = signal(2 * 3 * 4 * 5);
        for axes in 1..=3 {
            let there = fft(&x, &[2, 3, 4, 5], axes, false);
            assert!(distance(&fft(&there, &[2, 3, 4, 5], axes, true), &x) < 1e-13);
        }
    }

    /// `jnp.fft.fft2` of `[[1, 2, 3], [4, 5, 7]]`.
    #[test]
    fn two_axes_of_numpy() {
        let x: Vec<C> = [1.0, 2.0, 3.0, 4.0, 5.0, 7.0].map(C::from).to_vec();
        let s = 3.0f64.sqrt();
        let want = [
            (22.0, 0.0),
            (-3.5, 1.5 * s),
            (-3.5, -1.5 * s),
            (-10.0, 0.0),
            (0.5, -s / 2.0),
            (0.5, s / 2.0),
        ];
        let want: Vec<C> = want.iter().map(|&(re, im)| C::new(re, im)).collect();
        assert!(distance(&fft(&x, &[2, 3], 2, false), &want) < 1e-14);
    }

    #[test]
    fn real_transforms_are_halves_of_complex_ones() {
        for (shape, axes) in [([3, 4], 1), ([3, 5], 2), ([4, 1], 2)] {
            let n = shape[1];
            let x: Vec<f64> = signal(shape[0] * n).iter().map(|z| z.re).collect();
            let complex: Vec<C> = x.iter().map(|&re| re.into()).collect();
            let full = fft(&complex, &shape, axes, false);
            let half = rfft(&x, &shape, axes);
            let kept = n / 2 + 1;
            let want: Vec<C> = full
                .chunks(n)
                .flat_map(|row| row[..kept].to_vec())
                .collect();
            assert!(distance(&half, &want) < 1e-13);
            let back = irfft(&half, &[shape[0], kept], axes, n);
            assert!(back.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-14));
        }
    }

    #[test]
    fn imaginary_parts_that_cannot_matter_do_not() {
        let row = [C::new(1.0, 9.0), C::new(2.0, 1.0), C::new(3.0, 9.0)];
        assert_eq!(irfft(&row, &[3], 1, 4), [2.0, -1.0, 0.0, 0.0]);
    }

    #[test]
    fn empty_axes() {
        assert!(fft::<f32>(&[], &[0, 4], 1, false).is_empty());
        assert!(rfft::<f32>(&[], &[0, 4], 1).is_empty());
        assert_eq!(rfft::<f32>(&[], &[2, 0], 1), [Complex::default(); 2]);
        assert!(irfft::<f32>(&[], &[0, 3], 1, 4).is_empty());
    }
}
