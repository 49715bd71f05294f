//! Arrays of other crates.

use jaxide::ErrorKind;
use jaxide::prelude::*;

/// Whether two values have their elements at the same address.
fn same_memory<T>(one: *const T, other: &[T]) -> bool {
    one == other.as_ptr()
}

fn x() -> Array {
    Array::from_vec([2, 3], vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0])
}

mod ndarray {
    use super::*;
    use ::ndarray::{Array1, Array2, Array3, ArrayD, array, s};

    #[test]
    fn owned_arrays_give_their_memory_away() {
        let given = Array2::from_shape_fn((3, 4), |(i, j)| (10 * i + j) as f32);
        let address = given.as_ptr();
        let array = Array::from(given);
        assert_eq!(array.shape(), [3, 4]);
        assert!(same_memory(address, &array.values().unwrap()));
        assert_eq!(array.index(1).to_vec::<f32>(), [10.0, 11.0, 12.0, 13.0]);
    }

    #[test]
    fn every_layout_keeps_its_elements() {
        let given = Array3::from_shape_fn((3, 4, 5), |(i, j, k)| (100 * i + 10 * j + k) as i32);
        let want = |view: &::ndarray::ArrayViewD<'_, i32>| view.iter().copied().collect::<Vec<_>>();
        let views = [
            given.view().into_dyn(),
            given.slice(s![1.., ..;2, ..]).into_dyn(),
            given.slice(s![.., .., ..;-1]).into_dyn(),
            given.t().into_dyn(),
            given.slice(s![1..1, .., ..]).into_dyn(),
            given.slice(s![1, 2, 3]).into_dyn(),
        ];
        for view in views {
            let array = Array::from(view.clone());
            assert_eq!(array.shape(), view.shape());
            assert_eq!(array.to_vec::<i32>(), want(&view));
            assert_eq!(array.to_ndarray::<i32>().unwrap(), view);
        }
        // An owned slice has its elements somewhere in its memory.
        let cut = given.clone().slice_move(s![1..2, .., ..]);
        assert_eq!(
            Array::from(cut.clone()).to_vec::<i32>(),
            want(&cut.view().into_dyn())
        );
        let turned = given.clone().reversed_axes();
        assert_eq!(
            Array::from(turned.clone()).to_vec::<i32>(),
            want(&turned.view().into_dyn())
        );
    }

    #[test]
    fn views_share_memory() {
        let x = x();
        let values = x.values::<f64>().unwrap();
        let view = values.ndarray().unwrap();
        assert!(same_memory(view.as_ptr(), &values));
        assert_eq!(view, array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]].into_dyn());
        assert_eq!(x.to_ndarray::<f32>().unwrap_err().kind(), ErrorKind::DType);
        let back: ArrayD<f64> = x.to_ndarray().unwrap();
        assert_eq!(back, view);
        assert_eq!(Array::from(Array1::<f32>::zeros(0)).shape(), [0]);
    }
}

mod nalgebra {
    use super::*;
    use ::nalgebra::{DMatrix, DVector, Matrix2x3, Vector3};

    #[test]
    fn vectors_and_single_rows_give_their_memory_away() {
        let given = DVector::from_fn(5, |i, _| i as f64);
        let address = given.as_ptr();
        let array = Array::from(given);
        assert_eq!(array.shape(), [5]);
        assert!(same_memory(address, &array.values().unwrap()));
        for (rows, columns) in [(1, 7), (7, 1)] {
            let given = DMatrix::from_fn(rows, columns, |i, j| (i + j) as f64);
            let address = given.as_ptr();
            let array = Array::from(given);
            assert_eq!(array.shape(), [rows, columns]);
            assert!(same_memory(address, &array.values().unwrap()));
            assert_eq!(array.to_vec::<f64>(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        }
    }

    #[test]
    fn matrices_keep_their_places() {
        let x = x();
        let matrix = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(
            Array::from(matrix.clone()).to_vec::<f64>(),
            x.to_vec::<f64>()
        );
        assert_eq!(Array::from(matrix.as_view()).shape(), [2, 3]);
        assert_eq!(x.to_nalgebra::<f64>().unwrap(), matrix);
        assert_eq!(
            Array::from(Matrix2x3::new(1.0, 2.0, 3.0, 4.0, 5.0, 6.0)).to_vec::<f64>(),
            x.to_vec::<f64>()
        );
        assert_eq!(Array::from(Vector3::new(1i32, 2, 3)).shape(), [3]);
        assert_eq!(
            Array::from([1.0, 2.0]).to_nalgebra::<f64>().unwrap(),
            DMatrix::from_row_slice(2, 1, &[1.0, 2.0])
        );
        assert_eq!(Array::from(DMatrix::<f32>::zeros(0, 3)).shape(), [0, 3]);
    }

    #[test]
    fn views_share_memory() {
        let x = x();
        let values = x.values::<f64>().unwrap();
        let view = values.nalgebra_transposed().unwrap();
        assert!(same_memory(&raw const view[(0, 0)], &values));
        assert_eq!(view.transpose(), x.to_nalgebra::<f64>().unwrap());
        assert_eq!(
            (view * DVector::from_vec(vec![1.0, -1.0])).as_slice(),
            [-3.0, -3.0, -3.0]
        );
        let error = Array::zeros([2, 2, 2], DType::F64)
            .values::<f64>()
            .unwrap()
            .nalgebra_transposed()
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        assert_eq!(x.to_nalgebra::<i32>().unwrap_err().kind(), ErrorKind::DType);
    }
}

mod faer {
    use super::*;
    use ::faer::{Col, Mat, mat};

    #[test]
    fn matrices_keep_their_places() {
        let x = x();
        let matrix = mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
        assert_eq!(
            Array::from(matrix.clone()).to_vec::<f64>(),
            x.to_vec::<f64>()
        );
        assert_eq!(
            Array::from(matrix.transpose()).to_vec::<f64>(),
            x.t().to_vec::<f64>()
        );
        assert_eq!(x.to_faer::<f64>().unwrap(), matrix);
        assert_eq!(Array::from(Mat::<f32>::zeros(0, 3)).shape(), [0, 3]);
        let column = Col::from_fn(3, |i| i as f32);
        assert_eq!(
            Array::from(column.as_ref()).to_vec::<f32>(),
            [0.0, 1.0, 2.0]
        );
    }

    #[test]
    fn views_share_memory() {
        let x = x();
        let values = x.values::<f64>().unwrap();
        let view = values.faer().unwrap();
        assert!(same_memory(view.as_ptr(), &values));
        assert_eq!(view.to_owned(), x.to_faer::<f64>().unwrap());
        assert_eq!(x.to_faer::<f32>().unwrap_err().kind(), ErrorKind::DType);
        assert_eq!(x.values::<f32>().unwrap_err().kind(), ErrorKind::DType);
        let column = Array::from([1.0, 2.0]);
        assert_eq!(
            column.values::<f64>().unwrap().faer().unwrap().shape(),
            (2, 1)
        );
        assert_eq!(
            Array::scalar(1.0).to_faer::<f64>().unwrap_err().kind(),
            ErrorKind::Shape
        );
    }
}

#[test]
fn traced_arrays_have_no_memory() {
    let f = |x: Array| {
        assert_eq!(
            x.to_ndarray::<f32>().unwrap_err().kind(),
            ErrorKind::Concretization
        );
        assert_eq!(
            x.to_nalgebra::<f32>().unwrap_err().kind(),
            ErrorKind::Concretization
        );
        assert_eq!(
            x.values::<f32>().unwrap_err().kind(),
            ErrorKind::Concretization
        );
        x
    };
    make_jaxpr(f)(Array::spec(DType::F32, [2, 2])).unwrap();
}
