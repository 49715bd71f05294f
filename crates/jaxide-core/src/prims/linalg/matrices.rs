//! Matrix algebra as derivatives of factorisations write it. The last two axes are the matrix, all others are batch axes.

use super::super::elementwise::index_dtype;
use super::super::*;
use super::*;

/// Full precision of both operands.
pub(super) const HIGHEST: Option<DotPrecision> = Some(DotPrecision::Operands(
    Precision::Highest,
    Precision::Highest,
));

/// Numbers of rows and columns.
pub(super) fn rows_columns(b: &Builder, x: Atom) -> (usize, usize) {
    let shape = b.shape(x);
    (shape[shape.len() - 2], shape[shape.len() - 1])
}

/// The matrix of ones on the diagonal.
pub(super) fn eye(b: &Builder, dtype: DType, n: usize) -> Atom {
    let rows = b.iota(DType::I32, &[n, n], 0);
    let rows = b.add(rows, b.integer(0, DType::I32));
    let columns = b.iota(DType::I32, &[n, n], 1);
    b.convert(b.eq(rows, columns), dtype)
}

/// Where column - row is at most `k`, for the matrices of `x`.
fn lower_mask(b: &Builder, x: Atom, k: i64) -> Atom {
    let (m, n) = rows_columns(b, x);
    let index = index_dtype(b.dtype(x));
    let rows = b.iota(index, &[m, n], 0);
    let rows = b.add(rows, b.integer(k, index));
    let columns = b.iota(index, &[m, n], 1);
    let mask = b.ge(rows, columns);
    let rank = b.rank(x);
    let shape: Dims = b.shape(x)[..rank - 2]
        .iter()
        .copied()
        .chain([m, n])
        .collect();
    b.broadcast_in_dim(mask, &shape, &[rank - 2, rank - 1])
}

/// The part on and below the `k`-th diagonal.
pub(super) fn tril(b: &Builder, x: Atom, k: i64) -> Atom {
    let mask = lower_mask(b, x, k);
    let zeros = b.full(&b.shape(x), 0.0, b.dtype(x));
    b.select(mask, x, zeros)
}

/// The part on and above the `k`-th diagonal.
pub(super) fn triu(b: &Builder, x: Atom, k: i64) -> Atom {
    let mask = lower_mask(b, x, k - 1);
    let zeros = b.full(&b.shape(x), 0.0, b.dtype(x));
    b.select(mask, zeros, x)
}

/// The transpose of each matrix.
pub(super) fn transposed(b: &Builder, x: Atom) -> Atom {
    let rank = b.rank(x);
    let mut permutation: Vec<usize> = (0..rank).collect();
    permutation.swap(rank - 2, rank - 1);
    b.transpose(x, &permutation)
}

/// The complex conjugate, `x` itself when it is real.
pub(super) fn conjugate(b: &Builder, x: Atom) -> Atom {
    let input_dtype = b.dtype(x);
    if input_dtype.is_complex() {
        b.op(Conj { input_dtype }, &[x])
    } else {
        x
    }
}

/// The conjugate transpose of each matrix.
pub(super) fn adjoint(b: &Builder, x: Atom) -> Atom {
    conjugate(b, transposed(b, x))
}

/// The real part, `x` itself when it is real.
pub(super) fn real_part(b: &Builder, x: Atom) -> Atom {
    if b.dtype(x).is_complex() {
        b.real(x)
    } else {
        x
    }
}

/// The product of matrices, batch axes in step.
fn product(
    b: &Builder,
    x: Atom,
    y: Atom,
    precision: Option<DotPrecision>,
    preferred_element_type: Option<DType>,
) -> Atom {
    let rank = b.rank(x);
    let batch: Dims = (0..rank - 2).collect();
    let numbers = DotDimensionNumbers {
        lhs_contracting: smallvec![rank - 1],
        rhs_contracting: smallvec![rank - 2],
        lhs_batch: batch.clone(),
        rhs_batch: batch,
    };
    b.dot_general(x, y, numbers, precision, preferred_element_type)
}

/// The product as `lax.dot` writes it, at full precision.
pub(super) fn dot(b: &Builder, x: Atom, y: Atom) -> Atom {
    product(b, x, y, HIGHEST, None)
}

/// The product as the operator `@` writes it: the element type of the result is named.
pub(super) fn matmul(b: &Builder, x: Atom, y: Atom, precision: Option<DotPrecision>) -> Atom {
    product(b, x, y, precision, Some(b.dtype(x)))
}

/// `x` with leading axes of length 1 up to `rank` axes.
pub(super) fn promoted(b: &Builder, x: Atom, rank: usize) -> Atom {
    let own = b.shape(x);
    let missing = rank.saturating_sub(own.len());
    let shape: Dims = std::iter::repeat_n(1, missing).chain(own).collect();
    let dims: Vec<usize> = (missing..rank).collect();
    b.broadcast_in_dim(x, &shape, &dims)
}

/// `x` with a new axis of length 1 at `axis`.
pub(super) fn with_axis(b: &Builder, x: Atom, axis: usize) -> Atom {
    let mut shape = b.shape(x);
    shape.insert(axis, 1);
    let dims: Vec<usize> = (0..shape.len()).filter(|&at| at != axis).collect();
    b.broadcast_in_dim(x, &shape, &dims)
}

/// Elements `range` along `axis`; `x` itself when these are all.
pub(super) fn part(b: &Builder, x: Atom, axis: usize, range: std::ops::Range<usize>) -> Atom {
    let mut limit = b.shape(x);
    if range == (0..limit[axis]) {
        return x;
    }
    let mut start = Dims::from_elem(0, limit.len());
    (start[axis], limit[axis]) = (range.start, range.end);
    b.slice(x, &start, &limit)
}

/// Columns `range` of each matrix.
pub(super) fn columns(b: &Builder, x: Atom, range: std::ops::Range<usize>) -> Atom {
    part(b, x, b.rank(x) - 1, range)
}

/// Rows `range` of each matrix.
pub(super) fn rows(b: &Builder, x: Atom, range: std::ops::Range<usize>) -> Atom {
    part(b, x, b.rank(x) - 2, range)
}

/// Indices into an axis of `length` elements, of which negative ones count from the end.
pub(super) fn from_start(b: &Builder, indices: Atom, length: usize) -> Atom {
    let dtype = b.dtype(indices);
    let negative = b.lt(indices, b.integer(0, dtype));
    let moved = b.add(indices, b.integer(length as i64, dtype));
    b.select(negative, moved, indices)
}

/// The slices of `x` at `indices` (a vector) along `axis`.
pub(super) fn take(b: &Builder, x: Atom, indices: Atom, axis: usize) -> Atom {
    let mut slice_sizes = b.shape(x);
    let indices = from_start(b, indices, slice_sizes[axis]);
    let indices = with_axis(b, indices, 1);
    slice_sizes[axis] = 1;
    let prim = Gather {
        dimension_numbers: GatherDimensionNumbers {
            offset_dims: (0..slice_sizes.len()).filter(|&dim| dim != axis).collect(),
            collapsed_slice_dims: smallvec![axis],
            start_index_map: smallvec![axis],
            ..Default::default()
        },
        fill_value: None,
        indices_are_sorted: false,
        mode: GatherScatterMode::PromiseInBounds,
        slice_sizes,
        unique_indices: false,
    };
    b.op(prim, &[x, indices])
}

/// Row and column of each element of a diagonal, as an index array.
fn diagonal_indices(b: &Builder, positions: Atom, rows: usize, columns: usize) -> Atom {
    let row = from_start(b, positions, rows);
    let column = from_start(b, positions, columns);
    let (row, column) = (with_axis(b, row, 1), with_axis(b, column, 1));
    b.concatenate(&[row, column], 1)
}

/// The diagonal of each matrix.
pub(super) fn diagonal(b: &Builder, x: Atom) -> Atom {
    let (m, n) = rows_columns(b, x);
    let rank = b.rank(x);
    let positions = b.iota(DType::I32, &[m.min(n)], 0);
    let indices = diagonal_indices(b, positions, m, n);
    let mut slice_sizes = b.shape(x);
    slice_sizes[rank - 2..].fill(1);
    let matrix: Dims = smallvec![rank - 2, rank - 1];
    let prim = Gather {
        dimension_numbers: GatherDimensionNumbers {
            offset_dims: (0..rank - 2).collect(),
            collapsed_slice_dims: matrix.clone(),
            start_index_map: matrix,
            ..Default::default()
        },
        fill_value: None,
        indices_are_sorted: false,
        mode: GatherScatterMode::PromiseInBounds,
        slice_sizes,
        unique_indices: false,
    };
    b.op(prim, &[x, indices])
}

/// The diagonal matrix of each vector.
pub(super) fn diagonal_matrix(b: &Builder, x: Atom) -> Atom {
    let shape = b.shape(x);
    let (rank, n) = (shape.len(), shape[shape.len() - 1]);
    let positions = b.iota(DType::I32, &[n], 0);
    let target: Dims = shape.iter().copied().chain([n]).collect();
    let zeros = b.full(&target, 0.0, b.dtype(x));
    let indices = diagonal_indices(b, positions, n, n);
    let matrix: Dims = smallvec![rank - 1, rank];
    let prim = Scatter {
        dimension_numbers: ScatterDimensionNumbers {
            update_window_dims: (0..rank - 1).collect(),
            inserted_window_dims: matrix.clone(),
            scatter_dims_to_operand_dims: matrix,
            ..Default::default()
        },
        indices_are_sorted: false,
        mode: GatherScatterMode::FillOrDrop,
        unique_indices: false,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(None),
    };
    b.op(prim, &[zeros, indices, x])
}

/// How to solve with a triangular matrix: from the right, with the upper triangle, as it is.
pub(super) const UPPER_FROM_RIGHT: TriangularSolve = TriangularSolve {
    conjugate_a: false,
    left_side: false,
    lower: false,
    transpose_a: false,
    unit_diagonal: false,
};

/// How to solve with a lower triangular matrix from the left.
pub(super) const LOWER_FROM_LEFT: TriangularSolve = TriangularSolve {
    left_side: true,
    lower: true,
    ..UPPER_FROM_RIGHT
};

/// How to solve with an upper triangular matrix from the left.
pub(super) const UPPER_FROM_LEFT: TriangularSolve = TriangularSolve {
    left_side: true,
    ..UPPER_FROM_RIGHT
};

/// Solves with the triangular matrix `a`; real matrices are not conjugated.
pub(super) fn solve_triangular(b: &Builder, how: &TriangularSolve, a: Atom, rhs: Atom) -> Atom {
    let conjugate_a = how.conjugate_a && b.dtype(a).is_complex();
    b.op(
        TriangularSolve {
            conjugate_a,
            ..how.clone()
        },
        &[a, rhs],
    )
}
