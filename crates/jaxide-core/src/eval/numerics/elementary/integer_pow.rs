//! Whole powers by repeated multiplication.

/// `x` to the whole power `n`, multiplying in the order in which JAX lowers `integer_pow`: the
/// binary digits of |n| from the lowest, then one division for a negative n.
///
/// The element operations are arguments, so that the same order serves floats (rounding at every
/// step), complex numbers and wrapping integers.
///
/// ```
/// use jaxide_core::eval::numerics::elementary::integer_pow;
/// let pow = |x: f32, n| integer_pow(x, n, 1.0, |a, b| a * b, |a, b| a / b);
/// assert_eq!(pow(3.0, 4), 81.0);
/// assert_eq!(pow(2.0, -3), 0.125);
/// assert_eq!(pow(f32::NAN, 0), 1.0);
/// ```
pub fn integer_pow<T: Copy>(
    x: T,
    n: i64,
    one: T,
    mul: impl Fn(T, T) -> T,
    div: impl Fn(T, T) -> T,
) -> T {
    let mut rest = n.unsigned_abs();
    let mut square = x;
    let mut product = None;
    while rest > 0 {
        if rest & 1 == 1 {
            product = Some(product.map_or(square, |p| mul(p, square)));
        }
        rest >>= 1;
        if rest > 0 {
            square = mul(square, square);
        }
    }
    match product {
        None => one,
        Some(p) if n < 0 => div(one, p),
        Some(p) => p,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_and_wrapping_follow_the_order_of_products() {
        let pow = |x: f32, n| integer_pow(x, n, 1.0, |a, b| a * b, |a, b| a / b);
        assert_eq!(pow(1e20, -2), 0.0);
        assert_eq!(pow(-1.5, 3), -3.375);
        assert_eq!(pow(0.0, -1), f32::INFINITY);
        assert_eq!(
            integer_pow(7i8, 3, 1, i8::wrapping_mul, i8::wrapping_div),
            87
        );
        assert_eq!(pow(1.0000001, i64::MIN), 0.0);
    }
}
