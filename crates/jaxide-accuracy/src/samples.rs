//! Arguments and values of 50 digits, which `python/samples.py` wrote.

/// The samples of a function.
pub struct Samples {
    /// The arguments in order, each for every sample: numbers of single precision. Of complex numbers the parts.
    pub arguments: Vec<Vec<f64>>,
    /// The values, and what they miss; of complex functions the parts.
    pub values: Vec<(f64, f64)>,
}

/// The samples of a function with this number of arguments (or of parts), if there are any.
pub fn samples(name: &str, arguments: usize) -> Option<Samples> {
    let (_, text) = FILES.iter().find(|(file, _)| *file == name)?;
    let rows: Vec<Vec<f64>> = text
        .lines()
        .map(|line| line.split(' ').map(number).collect())
        .collect();
    let column = |k: usize| rows.iter().map(|row| row[k]).collect();
    Some(Samples {
        arguments: (0..arguments).map(column).collect(),
        values: rows
            .iter()
            .map(|row| (row[arguments], row[arguments + 1]))
            .collect(),
    })
}

/// A number from the digits of its bits, whose zeros at the end are left out.
fn number(digits: &str) -> f64 {
    let value = u64::from_str_radix(digits, 16).unwrap_or(0);
    f64::from_bits(value << (64 - 4 * digits.len()).min(63))
}

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../samples/", $name, ".txt")))),*]
    };
}

const FILES: &[(&str, &str)] = files! {
    "digamma" "bessel_i0e" "bessel_i1e" "erf_inv" "logistic" "igamma" "igammac" "igamma_grad_a" "zeta" "polygamma"
    "regularized_incomplete_beta"
    "complex_exp" "complex_exp2" "complex_expm1" "complex_log" "complex_log2" "complex_log1p" "complex_sqrt" "complex_rsqrt"
    "complex_sin" "complex_cos" "complex_tan" "complex_asin" "complex_acos" "complex_atan" "complex_sinh" "complex_cosh" "complex_tanh"
    "complex_asinh" "complex_acosh" "complex_atanh" "complex_logistic" "complex_square" "complex_sign" "complex_mul" "complex_div"
    "complex_pow"
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_bits() {
        assert_eq!(number("3ff"), 1.0);
        assert_eq!(number("c008"), -3.0);
        assert_eq!(number("0"), 0.0);
        assert_eq!(number("3fb999999999999a"), 0.1);
    }

    #[test]
    fn every_file_has_rows_of_numbers() {
        for (name, text) in FILES {
            let columns = text
                .lines()
                .next()
                .map_or(0, |line| line.split(' ').count());
            assert!(columns >= 3 && text.lines().count() > 50, "{name}");
            assert!(
                text.lines().all(|line| line.split(' ').count() == columns
                    && line.split(' ').all(|digits| number(digits).is_finite())),
                "{name}"
            );
        }
    }
}
