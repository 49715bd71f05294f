//! Factorisations and solvers: the last two axes are the matrix, all others are batch axes.

use super::super::*;
use super::*;

/// Batch axes, rows and columns of a matrix of floats or complex numbers.
fn matrix(aval: &Aval) -> Result<(&[usize], usize, usize)> {
    if !matches!(
        aval.dtype,
        DType::F32 | DType::F64 | DType::C64 | DType::C128
    ) {
        return Err(Error::dtype(format!(
            "{aval} has element type {}, and f32, f64, c64 or c128 is expected",
            aval.dtype
        )));
    }
    match &aval.shape[..] {
        [batch @ .., rows, columns] => Ok((batch, *rows, *columns)),
        _ => Err(Error::shape(format!("{aval} is not a matrix"))),
    }
}

/// Batch axes and size of a square matrix.
fn square(aval: &Aval) -> Result<(&[usize], usize)> {
    let (batch, rows, columns) = matrix(aval)?;
    if rows != columns {
        return Err(Error::shape(format!("{aval} is not square")));
    }
    Ok((batch, rows))
}

/// `batch` axes followed by `tail`.
fn shaped(dtype: DType, batch: &[usize], tail: &[usize]) -> Aval {
    let shape: Dims = batch.iter().chain(tail).copied().collect();
    Aval::new(dtype, &shape)
}

/// The number of operands.
fn operands_of<const N: usize>(operands: &[Aval]) -> Result<&[Aval; N]> {
    operands.try_into().map_err(|_| arity(N, operands.len()))
}

/// The batch axes of `aval` before its last `trailing` axes, which must have these lengths, and its element type `dtype`.
fn check_like(aval: &Aval, dtype: DType, batch: &[usize], trailing: &[usize]) -> Result<()> {
    let want = shaped(dtype, batch, trailing);
    if aval.dtype == dtype && aval.shape == want.shape {
        return Ok(());
    }
    Err(Error::shape(format!(
        "{want} is expected, and {aval} is given"
    )))
}

/// A subset of eigenvalues or singular values is a range within them.
fn subset_length(subset: Option<(usize, usize)>, all: usize) -> Result<usize> {
    match subset {
        None => Ok(all),
        Some((start, end)) if start <= end && end <= all => Ok(end - start),
        Some((start, end)) => Err(Error::parameter(format!(
            "subset_by_index ({start}, {end}) is not within the {all} values"
        ))),
    }
}

type Avals = SmallVec<[Aval; 1]>;

/// Rules of primitives on matrices: the mapped axis becomes the first batch axis. A row is the primitive, its name, its
/// abstract evaluation and its forward derivative.
macro_rules! factorisations {
    ($($prim:ident $name:literal $eval:expr, $jvp:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let eval: fn(&Self, &[Aval]) -> Result<Avals> = $eval;
                eval(self, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let jvp: fn(&Self, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> = $jvp;
                jvp(self, b, primals, tangents)
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<SmallVec<[Batched; 1]>> {
                batch_leading(self.clone().into(), b, operands, axis)
            }

            fn transpose(&self, _b: &Builder, _cotangents: &[Option<Atom>], _operands: &[TransposeArg]) -> Result<SmallVec<[Option<Atom>; 3]>> {
                Err(not_linear($name))
            }
        }
    )* };
}

/// Applies a primitive with the mapped axis as the first batch axis of all operands.
fn batch_leading(
    prim: Prim,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<SmallVec<[Batched; 1]>> {
    let mapped = operands.iter().any(|operand| operand.dim.is_some());
    let place = |operand: &Batched| {
        if mapped {
            to_front(b, *operand, axis.size)
        } else {
            operand.value
        }
    };
    let atoms: Vec<Atom> = operands.iter().map(place).collect();
    let results = b.emit(prim, &atoms)?;
    Ok(results
        .into_iter()
        .map(|value| Batched {
            value,
            dim: mapped.then_some(0),
        })
        .collect())
}

/// Reports that there is no derivative.
fn no_derivative<P>(
    name: &'static str,
) -> impl Fn(&P, &Builder, &[Atom], &[Option<Atom>]) -> Result<JvpResult> {
    move |_, _, _, _| {
        Err(Error::no_rule(
            name,
            "jvp",
            "JAX defines no derivative for it",
        ))
    }
}

factorisations! {
    Cholesky "cholesky" |_, o| { square(one(o)?)?; Ok(smallvec![o[0].clone()]) }, |_, _, _, _| Err(pending("cholesky"));
    CholeskyUpdate "cholesky_update" |_, o| {
        let [r, w] = operands_of(o)?;
        let (batch, n) = square(r)?;
        check_like(w, r.dtype, batch, &[n])?;
        Ok(smallvec![r.clone()])
    }, |_, _, _, _| Err(pending("cholesky_update"));
    Lu "lu" |_, o| {
        let (batch, rows, columns) = matrix(one(o)?)?;
        let pivots = shaped(DType::I32, batch, &[rows.min(columns)]);
        Ok(smallvec![o[0].clone(), pivots, shaped(DType::I32, batch, &[rows])])
    }, |_, _, _, _| Err(pending("lu"));
    LuPivotsToPermutation "lu_pivots_to_permutation" |p, o| {
        let aval = one(o)?;
        let Some((&count, batch)) = aval.shape.split_last() else { return Err(Error::shape(format!("pivots must be a vector, and are {aval}"))) };
        if !aval.dtype.is_integer() {
            return Err(Error::dtype(format!("pivots must be integers, and are {aval}")));
        }
        if p.permutation_size < count {
            return Err(Error::parameter(format!("permutation_size {} is less than the {count} pivots", p.permutation_size)));
        }
        Ok(smallvec![shaped(aval.dtype, batch, &[p.permutation_size])])
    }, |p, b, x, _| Ok(JvpResult::one(b.op(p.clone(), x), None));
    Qr "qr" |p, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        let k = if p.full_matrices { m } else { m.min(n) };
        let mut out: Avals = smallvec![shaped(aval.dtype, batch, &[m, k]), shaped(aval.dtype, batch, &[k, n])];
        if p.pivoting {
            out.push(shaped(DType::I32, batch, &[n]));
        }
        Ok(out)
    }, |_, _, _, _| Err(pending("qr"));
    Geqrf "geqrf" |_, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        Ok(smallvec![aval.clone(), shaped(aval.dtype, batch, &[m.min(n)])])
    }, |_, _, _, _| Err(pending("geqrf"));
    Geqp3 "geqp3" |_, o| {
        let [a, jpvt] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        check_like(jpvt, DType::I32, batch, &[n])?;
        Ok(smallvec![a.clone(), jpvt.clone(), shaped(a.dtype, batch, &[m.min(n)])])
    }, |_, _, _, _| Err(pending("geqp3"));
    HouseholderProduct "householder_product" |_, o| {
        let [a, taus] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        let k = taus.shape.last().copied().unwrap_or(0);
        check_like(taus, a.dtype, batch, &[k])?;
        if m < n || k > n {
            return Err(Error::shape(format!("{a} must have at least as many rows as columns, and as columns {k} reflectors")));
        }
        Ok(smallvec![a.clone()])
    }, |_, _, _, _| Err(pending("householder_product"));
    Ormqr "ormqr" |p, o| {
        let [a, taus, c] = operands_of(o)?;
        let (batch, m, n) = matrix(a)?;
        let (_, rows, columns) = matrix(c)?;
        check_like(c, a.dtype, batch, &[rows, columns])?;
        let k = taus.shape.last().copied().unwrap_or(0);
        check_like(taus, a.dtype, batch, &[k])?;
        if k > n.min(m) || m != if p.left { rows } else { columns } {
            return Err(Error::shape(format!("the reflectors {a}, {taus} do not fit {c}")));
        }
        Ok(smallvec![c.clone()])
    }, |_, _, _, _| Err(pending("ormqr"));
    Eigh "eigh" |p, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let k = subset_length(p.subset_by_index, n)?;
        Ok(smallvec![shaped(aval.dtype, batch, &[n, k]), shaped(aval.dtype.real(), batch, &[k])])
    }, |_, _, _, _| Err(pending("eigh"));
    Eig "eig" |p, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let dtype = aval.dtype.complex().unwrap_or(aval.dtype);
        let vectors = usize::from(p.compute_left_eigenvectors) + usize::from(p.compute_right_eigenvectors);
        let mut out: Avals = smallvec![shaped(dtype, batch, &[n])];
        out.extend(std::iter::repeat_n(shaped(dtype, batch, &[n, n]), vectors));
        Ok(out)
    }, |_, _, _, _| Err(pending("eig"));
    Svd "svd" |p, o| {
        let aval = one(o)?;
        let (batch, m, n) = matrix(aval)?;
        let k = subset_length(p.subset_by_index, m.min(n))?;
        let mut out: Avals = smallvec![shaped(aval.dtype.real(), batch, &[k])];
        if p.compute_uv {
            let (u, v) = if p.full_matrices { (m, n) } else { (k, k) };
            out.push(shaped(aval.dtype, batch, &[m, u]));
            out.push(shaped(aval.dtype, batch, &[v, n]));
        }
        Ok(out)
    }, |_, _, _, _| Err(pending("svd"));
    Schur "schur" |p, o| {
        square(one(o)?)?;
        let count = 1 + usize::from(p.compute_schur_vectors);
        Ok(smallvec![o[0].clone(); count])
    }, |p, b, x, t| no_derivative("schur")(p, b, x, t);
    Hessenberg "hessenberg" |_, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        Ok(smallvec![aval.clone(), shaped(aval.dtype, batch, &[n.saturating_sub(1)])])
    }, |p, b, x, t| no_derivative("hessenberg")(p, b, x, t);
    Tridiagonal "tridiagonal" |_, o| {
        let aval = one(o)?;
        let (batch, n) = square(aval)?;
        let (real, off) = (aval.dtype.real(), n.saturating_sub(1));
        Ok(smallvec![aval.clone(), shaped(real, batch, &[n]), shaped(real, batch, &[off]), shaped(aval.dtype, batch, &[off])])
    }, |p, b, x, t| no_derivative("tridiagonal")(p, b, x, t);
    TridiagonalSolve "tridiagonal_solve" |_, o| {
        let [lower, diagonal, upper, rhs] = operands_of(o)?;
        let (batch, n, columns) = matrix(rhs)?;
        check_like(rhs, rhs.dtype, batch, &[n, columns])?;
        for diagonal in [lower, diagonal, upper] {
            check_like(diagonal, rhs.dtype, batch, &[n])?;
        }
        Ok(smallvec![rhs.clone()])
    }, |_, _, _, _| Err(pending("tridiagonal_solve"));
    TriangularSolve "triangular_solve" |p, o| {
        let [a, rhs] = operands_of(o)?;
        let (batch, n) = square(a)?;
        let (_, rows, columns) = matrix(rhs)?;
        check_like(rhs, a.dtype, batch, &[rows, columns])?;
        if n != if p.left_side { rows } else { columns } {
            return Err(Error::shape(format!("{a} does not fit {rhs} on this side")));
        }
        Ok(smallvec![rhs.clone()])
    }, |_, _, _, _| Err(pending("triangular_solve"));
    SymmetricProduct "symmetric_product" |_, o| {
        let [a, c] = operands_of(o)?;
        let (batch, n, _) = matrix(a)?;
        check_like(c, a.dtype, batch, &[n, n])?;
        Ok(smallvec![c.clone()])
    }, |p, b, x, t| no_derivative("symmetric_product")(p, b, x, t);
    Fft "fft" |p, o| fft_aval(p, one(o)?), |_, _, _, _| Err(pending("fft"));
}

/// A rule that is still to be written.
fn pending(name: &str) -> Error {
    Error::unsupported("jvp is not written yet").in_operation(name)
}

/// The type of a Fourier transform of the last axes.
fn fft_aval(p: &Fft, aval: &Aval) -> Result<Avals> {
    let axes = p.fft_lengths.len();
    let Some(split) = aval.rank().checked_sub(axes) else {
        return Err(Error::shape(format!("{aval} has fewer than {axes} axes")));
    };
    let (batch, lengths) = aval.shape.split_at(split);
    let refuse = |want: &[usize]| {
        Err(Error::shape(format!(
            "the last axes of {aval} must have lengths {want:?}"
        )))
    };
    let mut half = p.fft_lengths.clone();
    if let Some(last) = half.last_mut() {
        *last = *last / 2 + usize::from(*last > 0);
    }
    match p.fft_type {
        FftType::Fft | FftType::Ifft => {
            if !aval.dtype.is_complex() {
                return Err(Error::dtype(format!("{aval} must be complex")));
            }
            if lengths != p.fft_lengths.as_slice() {
                refuse(&p.fft_lengths)
            } else {
                Ok(smallvec![aval.clone()])
            }
        }
        FftType::Rfft => {
            let Some(complex) = aval.dtype.complex().filter(|_| !aval.dtype.is_complex()) else {
                return Err(Error::dtype(format!("{aval} must be f32 or f64")));
            };
            if lengths != p.fft_lengths.as_slice() {
                refuse(&p.fft_lengths)
            } else {
                Ok(smallvec![shaped(complex, batch, &half)])
            }
        }
        FftType::Irfft => {
            if !aval.dtype.is_complex() {
                return Err(Error::dtype(format!("{aval} must be complex")));
            }
            if lengths != half.as_slice() {
                refuse(&half)
            } else {
                Ok(smallvec![shaped(aval.dtype.real(), batch, &p.fft_lengths)])
            }
        }
    }
}
