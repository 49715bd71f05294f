//! Products whose rows fall into groups, against sums over indices.

use jaxide_core::Tensor;
use proptest::prelude::*;

use super::run;

/// A place in an array of this shape, in row-major order.
fn place(shape: &[usize], index: &[usize]) -> usize {
    shape
        .iter()
        .zip(index)
        .fold(0, |place, (length, i)| place * length + i)
}

/// `(1, 2)`, `(1,)`, `()`.
fn tuple(axes: &[usize]) -> String {
    let items: String = axes.iter().map(|axis| format!("{axis},")).collect();
    format!("({items})")
}

fn list(shape: &[usize]) -> String {
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    lengths.join(",")
}

fn counted(shape: &[usize], seed: usize) -> (Vec<f64>, Tensor) {
    let count = shape.iter().product::<usize>();
    let numbers: Vec<f64> = (0..count)
        .map(|k| ((k * 7 + seed) % 11) as f64 - 5.0)
        .collect();
    (numbers.clone(), Tensor::from_vec(shape, numbers).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// `batch` axes and `before` others stand in front of the rows, each of length two or three.
    #[test]
    fn rows_in_groups(
        batch in 0usize..3,
        before in 0usize..3,
        (rows, inner, columns, groups) in (1usize..6, 1usize..4, 1usize..4, 1usize..4),
        seed in 0usize..1000,
    ) {
        let front: Vec<usize> = (0..batch + before).map(|axis| 2 + (axis + seed) % 2).collect();
        let lhs_shape = [&front[..], &[rows, inner]].concat();
        let rhs_shape = [&[groups], &front[..batch], &[inner, columns]].concat();
        let sizes_shape = [&front[..], &[groups]].concat();
        let out_shape = [&front[..], &[rows, columns]].concat();
        let ((lhs, a), (rhs, b)) = (counted(&lhs_shape, seed), counted(&rhs_shape, seed + 3));
        // The groups need not take all rows.
        let sizes: Vec<i32> = (0..sizes_shape.iter().product::<usize>())
            .map(|k| ((k * 5 + seed) % (rows / groups + 1)) as i32)
            .collect();
        let lhs_batch: Vec<usize> = (0..batch).collect();
        let rhs_batch: Vec<usize> = (1..=batch).collect();
        let text = format!(
            "{{ lambda ; a:f64[{}] b:f64[{}] c:i32[{}]. let d:f64[{}] = ragged_dot_general[group_offset=None \
             out_sharding=None precision=None preferred_element_type=None \
             ragged_dot_dimension_numbers=RaggedDotDimensionNumbers(dot_dimension_numbers=((({},), ({},)), ({}, {})), \
             lhs_ragged_dimensions=({},), rhs_group_dimensions=(0,))] a b c in (d,) }}",
            list(&lhs_shape), list(&rhs_shape), list(&sizes_shape), list(&out_shape),
            front.len() + 1, batch + 1, tuple(&lhs_batch), tuple(&rhs_batch), front.len(),
        );
        let c = Tensor::from_vec(&sizes_shape, sizes.clone()).unwrap();
        let got = run(&text, &[a, b, c])[0].to_vec::<f64>().unwrap();
        for (position, got) in got.into_iter().enumerate() {
            let (around, column) = (position / columns, position % columns);
            let (around, row) = (around / rows, around % rows);
            let mut index = vec![0; front.len()];
            let mut left = around;
            for axis in (0..front.len()).rev() {
                (index[axis], left) = (left % front[axis], left / front[axis]);
            }
            let mut end = 0;
            let group = (0..groups).find(|group| {
                end += sizes[around * groups + group] as usize;
                row < end
            });
            let want: f64 = group.map_or(0.0, |group| {
                let term = |k: usize| {
                    let left = lhs[place(&lhs_shape, &[&index[..], &[row, k]].concat())];
                    let right = [&[group], &index[..batch], &[k, column]].concat();
                    left * rhs[place(&rhs_shape, &right)]
                };
                (0..inner).map(term).sum()
            });
            prop_assert_eq!(got, want, "element {} of {}", position, text);
        }
    }
}
