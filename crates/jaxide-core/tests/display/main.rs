//! Arrays as NumPy 2 printed them: each line of `numpy.txt` is a type, numbers and, behind `|`, their text.

use half::f16;
use jaxide_core::{ArrayFormat, Tensor};
use num_complex::Complex;

#[test]
fn arrays_are_printed_as_numpy_prints_them() {
    let lines = include_str!("numpy.txt").lines();
    assert!(lines.clone().count() > 40);
    for line in lines {
        let (array, text) = line.split_once(" | ").unwrap();
        let (dtype, numbers) = array.split_once(' ').unwrap();
        let numbers: Vec<f64> = numbers.split(' ').map(|x| x.parse().unwrap()).collect();
        let parts = if dtype.starts_with("complex") { 2 } else { 1 };
        let shape = [numbers.len() / parts];
        let pairs = numbers.chunks(2);
        let array = match dtype {
            "float16" => Tensor::from_vec(&shape, numbers.into_iter().map(f16::from_f64).collect()),
            "float32" => Tensor::from_vec(&shape, numbers.into_iter().map(|x| x as f32).collect()),
            "complex64" => {
                let complex = pairs.map(|z| Complex::new(z[0] as f32, z[1] as f32));
                Tensor::from_vec(&shape, complex.collect())
            }
            "complex128" => {
                Tensor::from_vec(&shape, pairs.map(|z| Complex::new(z[0], z[1])).collect())
            }
            _ => Tensor::from_vec(&shape, numbers),
        };
        assert_eq!(ArrayFormat::default().text(&array.unwrap()), text, "{line}");
    }
}
