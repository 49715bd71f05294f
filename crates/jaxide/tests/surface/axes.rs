//! Shapes and axes of every integer type, in every form.

use jaxide::prelude::*;
use jaxide::{lax, nn, numpy, random, vmap};

fn x() -> Array {
    Array::from_vec([2, 3, 4], (0..24).collect())
}

macro_rules! shape_forms {
    ($($ty:ty)*) => { $( {
        let (a, b): ($ty, $ty) = (2, 3);
        let forms = [
            Array::zeros([a, b], DType::F32),
            Array::zeros(&[a, b], DType::F32),
            Array::zeros(&[a, b][..], DType::F32),
            Array::zeros(vec![a, b], DType::F32),
            Array::zeros(&vec![a, b], DType::F32),
            Array::zeros((a, b), DType::F32),
            Array::zeros((a, 3usize), DType::F32),
        ];
        for form in forms {
            assert_eq!(form.shape(), [2, 3], stringify!($ty));
        }
        assert_eq!(Array::ones(b, DType::F32).shape(), [3]);
        assert_eq!(x().sum_axes(b - 1).shape(), [2, 3], stringify!($ty));
        assert_eq!(x().sum_axes([b - 1, b - 3]).shape(), [3], stringify!($ty));
        assert_eq!(numpy::argmax(&x(), b - 2).shape(), [2, 4]);
        assert_eq!(vmap(|x: Array| x.sum()).in_axes(b - 1)(x()).shape(), [4]);
    } )* };
}

#[test]
fn shapes_and_axes_are_of_any_integer_type() {
    shape_forms!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);
}

#[test]
fn negative_axes_count_from_the_end() {
    let x = x();
    assert_eq!(x.sum_axes(-1i8).shape(), [2, 3]);
    assert_eq!(x.sum_axes((-1, 0)).shape(), [3]);
    assert_eq!(lax::reduce_max(&x, [-3i64, 2]).shape(), [3]);
    assert_eq!(
        lax::cumsum(&x, -1, false).to_vec::<i32>(),
        lax::cumsum(&x, 2, false).to_vec::<i32>()
    );
    assert_eq!(lax::transpose(&x, [-1, 0, 1]).shape(), [4, 2, 3]);
    assert_eq!(lax::rev(&x, -1).to_vec::<i32>()[..4], [3, 2, 1, 0]);
    assert_eq!(
        lax::concatenate(&[x.clone(), x.clone()], -1).shape(),
        [2, 3, 8]
    );
    assert_eq!(
        lax::stack(&[x.clone(), x.clone()], -1).shape(),
        [2, 3, 4, 2]
    );
    assert_eq!(lax::expand_dims(&x, (-1, 0)).shape(), [1, 2, 3, 4, 1]);
    assert_eq!(lax::unstack(&x, -2).len(), 3);
    assert_eq!(lax::split(&x, [1, 3], -1)[1].shape(), [2, 3, 3]);
    assert_eq!(
        lax::iota(DType::I32, (2, 3), -1).to_vec::<i32>(),
        [0, 1, 2, 0, 1, 2]
    );
    assert_eq!(lax::argmin(&x, -1, DType::I32).shape(), [2, 3]);
    assert_eq!(numpy::take(&x, &Array::from([0]), -1).shape(), [2, 3, 1]);
    assert_eq!(numpy::sort(&x, -2isize).shape(), [2, 3, 4]);
    assert_eq!(nn::softmax(&x.astype(DType::F32), -1i16).shape(), [2, 3, 4]);
    assert_eq!(vmap(|x: Array| x).out_axes(-1i64)(x).shape(), [3, 4, 2]);
}

#[test]
fn nothing_is_the_usual_choice() {
    let x = x();
    assert_eq!(x.sum_axes(()).ndim(), 0);
    assert_eq!(x.transpose(()).shape(), [4, 3, 2]);
    assert_eq!(
        lax::squeeze(&Array::zeros([1, 2, 1], DType::F32), ()).shape(),
        [2]
    );
    // An empty list is no axis.
    assert_eq!(x.sum_axes([]).shape(), [2, 3, 4]);
    assert_eq!(x.sum_axes(1..3).shape(), [2]);
    assert_eq!(Array::zeros((), DType::F32).ndim(), 0);
    assert_eq!(Array::zeros([], DType::F32).ndim(), 0);
    assert_eq!(Array::zeros(&[], DType::F32).ndim(), 0);
    assert_eq!(Array::spec(DType::F32, &[]).ndim(), 0);
}

#[test]
fn one_length_of_a_new_shape_follows() {
    let x = x();
    assert_eq!(x.reshape([4, -1]).shape(), [4, 6]);
    assert_eq!(x.reshape(-1).shape(), [24]);
    assert_eq!(x.reshape((2usize, 12u8)).shape(), [2, 12]);
    assert_eq!(x.reshape(x.shape()).shape(), [2, 3, 4]);
    assert_eq!(
        Array::zeros([0, 3], DType::F32).reshape([3, -1]).shape(),
        [3, 0]
    );
    assert_eq!(lax::full([2i8, 2], 7, DType::I32).to_vec::<i32>(), [7; 4]);
    assert_eq!(
        random::normal(&random::key(0), (2u8, 3i64), DType::F32).shape(),
        [2, 3]
    );
    assert_eq!(
        lax::dynamic_slice(&x, &[0.into(), 0.into(), 0.into()], (1, 2, 3)).shape(),
        [1, 2, 3]
    );
    assert_eq!(
        numpy::broadcast_to(&Array::from([1, 2]), (3usize, 2)).shape(),
        [3, 2]
    );
}

fn message(f: impl Fn() -> Array + Send + Sync + 'static) -> String {
    jit(f)
        .try_call(())
        .unwrap_err()
        .to_string()
        .lines()
        .next()
        .unwrap()
        .to_owned()
}

#[test]
fn mistakes_name_the_operation_and_what_was_written() {
    assert_eq!(
        message(|| x().reshape([5, -1])),
        "reshape: i32[2,3,4] cannot take the shape [5, -1]"
    );
    assert_eq!(
        message(|| x().reshape([-1, -1])),
        "reshape: i32[2,3,4] cannot take the shape [-1, -1]"
    );
    assert_eq!(
        message(|| x().reshape([-2, -12])),
        "reshape: i32[2,3,4] cannot take the shape [-2, -12]"
    );
    assert_eq!(
        message(|| x().reshape([u64::MAX, 2])),
        format!(
            "reshape: shape [{}, 2] has more elements than can be addressed",
            i64::MAX
        )
    );
    assert_eq!(
        message(|| x().sum_axes(3)),
        "sum: axis 3 is out of range for rank 3"
    );
    assert_eq!(
        message(|| x().sum_axes(-4i8)),
        "sum: axis -4 is out of range for rank 3"
    );
    assert_eq!(
        message(|| x().sum_axes((0, -3))),
        "sum: axis -3 is named twice in [0, -3]"
    );
    assert_eq!(
        message(|| lax::transpose(&x(), (0, 1))),
        message(|| lax::transpose(&x(), [0usize, 1]))
    );
    assert_eq!(
        message(|| Array::zeros([2, -1], DType::F32)),
        "zeros: the shape [2, -1] has a negative length"
    );
}
