//! Elements of arrays as text: all of an array in one notation and with one width, as NumPy chooses them.

use crate::display::ArrayFormat;
use crate::dtype::DType;
use crate::scalar::Scalar;
use crate::tensor::Tensor;

/// How the elements of an array are written.
pub(super) enum Elements {
    /// Truth values, of one width unless there is only one.
    Bool { aligned: bool },
    /// Integers of one width.
    Integer { width: usize, plus: bool },
    /// Numbers of types that NumPy knows nothing of.
    Foreign,
    /// Floats.
    Float(Floats),
    /// Real and imaginary parts.
    Complex(Floats, Floats),
    /// A float or a complex number by itself.
    Alone(Kind),
}

impl Elements {
    /// How the elements at the positions `shown` are written.
    pub(super) fn of(array: &Tensor, shown: &[usize], format: &ArrayFormat) -> Self {
        let dtype = array.dtype();
        let alone = array.shape().is_empty() && format.precision.is_none() && !format.plus;
        let values = || shown.iter().filter_map(|&index| array.scalar_at(index));
        let floats = |kind: Kind, part: fn((f64, f64)) -> f64, plus: bool| {
            let parts: Vec<f64> = values().map(|value| part(value.as_complex())).collect();
            Floats::of(&parts, kind, format.precision.unwrap_or(8), plus)
        };
        match Kind::of(dtype) {
            Some(kind) if alone => Elements::Alone(kind),
            Some(kind) if dtype.is_complex() => Elements::Complex(
                floats(kind, |(re, _)| re, format.plus),
                floats(kind, |(_, im)| im, true),
            ),
            Some(kind) => Elements::Float(floats(kind, |(re, _)| re, format.plus)),
            None if dtype == DType::Bool || dtype == DType::Float0 => Elements::Bool {
                aligned: !array.shape().is_empty(),
            },
            None if dtype.is_integer() && dtype.bits() >= 8 => {
                let plus = format.plus;
                let widths = values().map(|value| integer(value, plus).len());
                Elements::Integer {
                    width: widths.max().unwrap_or(0),
                    plus,
                }
            }
            None => Elements::Foreign,
        }
    }

    /// The element at a position.
    pub(super) fn text(&self, array: &Tensor, position: usize) -> String {
        let value = array.scalar_at(position).unwrap_or(Scalar::Bool(false));
        let (re, im) = value.as_complex();
        match self {
            Elements::Bool { aligned } => match (re != 0.0, aligned) {
                (true, true) => " True".to_owned(),
                (true, false) => "True".to_owned(),
                (false, _) => "False".to_owned(),
            },
            Elements::Integer { width, plus } => format!("{:>width$}", integer(value, *plus)),
            Elements::Foreign if array.dtype().is_float() => general(re),
            Elements::Foreign => integer(value, false),
            Elements::Float(floats) => floats.text(re),
            Elements::Complex(real, imaginary) => {
                let imaginary = imaginary.text(im);
                let digits = imaginary.trim_end().len();
                let (digits, spaces) = imaginary.split_at(digits);
                format!("{}{digits}j{spaces}", real.text(re))
            }
            Elements::Alone(kind) if array.dtype().is_complex() => {
                let part = |x: f64| alone(x, *kind).trim_end_matches(".0").to_owned();
                if re == 0.0 && re.is_sign_positive() {
                    format!("{}j", part(im))
                } else {
                    let sign = if im.is_nan() || im.is_sign_positive() {
                        "+"
                    } else {
                        ""
                    };
                    format!("({}{sign}{}j)", part(re), part(im))
                }
            }
            Elements::Alone(kind) => alone(re, *kind),
        }
    }
}

/// The floating-point types of NumPy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Half,
    Single,
    Double,
}

impl Kind {
    /// That of an element, or of its parts.
    fn of(dtype: DType) -> Option<Kind> {
        match dtype.real() {
            DType::F16 => Some(Kind::Half),
            DType::F32 => Some(Kind::Single),
            DType::F64 => Some(Kind::Double),
            _ => None,
        }
    }

    /// A number rounded to this type.
    fn round(self, x: f64) -> f64 {
        match self {
            Kind::Half => half::f16::from_f64(x).to_f64(),
            Kind::Single => (x as f32).into(),
            Kind::Double => x,
        }
    }

    /// From where on numbers are written with an exponent.
    fn large(self) -> f64 {
        match self {
            Kind::Half => 1e3,
            Kind::Single => 1e6,
            Kind::Double => 1e8,
        }
    }

    /// From where on numbers by themselves are.
    fn large_alone(self) -> f64 {
        match self {
            Kind::Half | Kind::Single => self.large(),
            Kind::Double => 1e16,
        }
    }

    /// The fewest digits that tell a number from others of this type, as `d.ddde±x`.
    fn shortest(self, x: f64) -> String {
        match self {
            Kind::Half => (0..17)
                .map(|digits| format!("{x:.digits$e}"))
                .find(|text| text.parse().is_ok_and(|y| self.round(y) == x))
                .unwrap_or_else(|| format!("{x:e}")),
            Kind::Single => format!("{:e}", x as f32),
            Kind::Double => format!("{x:e}"),
        }
    }
}

/// Floats of an array: their notation, and the characters in front of the point and behind.
pub(super) struct Floats {
    kind: Kind,
    notation: Notation,
    left: usize,
    right: usize,
    plus: bool,
}

enum Notation {
    /// With an exponent: digits behind the point, digits of the exponent.
    Scientific { digits: usize, exponent: usize },
    /// Without: at most so many digits behind the point.
    Positional { digits: usize },
}

impl Floats {
    fn of(values: &[f64], kind: Kind, precision: usize, plus: bool) -> Self {
        let finite: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        let sizes = finite.iter().filter(|&&x| x != 0.0).map(|x| x.abs());
        let largest = sizes.clone().fold(0.0, f64::max);
        let smallest = sizes.fold(f64::INFINITY, f64::min);
        let scientific = largest > 0.0
            && (largest >= kind.large()
                || smallest < kind.round(0.0001)
                || kind.round(largest / smallest) > 1000.0);
        let mut floats = Floats {
            kind,
            notation: Notation::Positional { digits: precision },
            left: 0,
            right: 0,
            plus,
        };
        if scientific {
            let texts: Vec<String> = finite
                .iter()
                .map(|&x| floats.signed(x, scientific_digits(x, kind, precision)))
                .collect();
            let (mut digits, mut exponent) = (0, 2);
            for text in &texts {
                let (mantissa, power) = text.split_once('e').unwrap_or((text, ""));
                let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
                floats.left = floats.left.max(whole.len());
                digits = digits.max(fraction.len());
                exponent = exponent.max(power.trim_start_matches('-').len());
            }
            floats.right = exponent + 2 + digits;
            floats.notation = Notation::Scientific { digits, exponent };
        } else {
            for &x in &finite {
                let text = floats.signed(x, positional(x, kind, precision));
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                floats.left = floats.left.max(whole.len());
                floats.right = floats.right.max(fraction.len());
            }
        }
        if finite.len() < values.len() {
            let negative = plus || values.contains(&f64::NEG_INFINITY);
            let needed = (3 + usize::from(negative)).saturating_sub(floats.right + 1);
            let not_numbers = 3usize.saturating_sub(floats.right + 1);
            floats.left = floats.left.max(needed).max(not_numbers);
        }
        floats
    }

    fn signed(&self, x: f64, text: String) -> String {
        if self.plus && (x.is_nan() || x.is_sign_positive()) {
            format!("+{text}")
        } else {
            text
        }
    }

    fn text(&self, x: f64) -> String {
        let (left, right) = (self.left, self.right);
        if !x.is_finite() {
            let text = if x.is_nan() {
                "nan"
            } else if x > 0.0 {
                "inf"
            } else {
                "-inf"
            };
            return format!("{:>1$}", self.signed(x, text.to_owned()), left + right + 1);
        }
        match self.notation {
            Notation::Scientific { digits, exponent } => {
                let text = self.signed(x, format!("{x:.digits$e}"));
                let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
                let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
                format!(
                    "{whole:>left$}.{fraction}e{}",
                    signed_power(power, exponent)
                )
            }
            Notation::Positional { digits } => {
                let text = self.signed(x, positional(x, self.kind, digits));
                let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
                format!("{whole:>left$}.{fraction:<right$}")
            }
        }
    }
}

/// `+05` from `5`.
fn signed_power(power: &str, digits: usize) -> String {
    let (sign, power) = match power.strip_prefix('-') {
        Some(power) => ('-', power),
        None => ('+', power),
    };
    format!("{sign}{power:0>digits$}")
}

/// A number with an exponent, with the fewest digits that tell it from others but at most `precision` behind the point.
fn scientific_digits(x: f64, kind: Kind, precision: usize) -> String {
    let text = kind.shortest(x);
    let digits = text
        .split_once('e')
        .map_or(&*text, |(mantissa, _)| mantissa);
    if digits
        .split_once('.')
        .map_or(0, |(_, fraction)| fraction.len())
        <= precision
    {
        return text;
    }
    let text = format!("{x:.precision$e}");
    match text.split_once('e') {
        Some((mantissa, power)) if mantissa.contains('.') => {
            format!(
                "{}e{power}",
                mantissa.trim_end_matches('0').trim_end_matches('.')
            )
        }
        _ => text,
    }
}

/// A number without exponent, with the fewest digits that tell it from others but at most `precision` behind the point,
/// which is there always.
fn positional(x: f64, kind: Kind, precision: usize) -> String {
    let shortest = kind.shortest(x);
    let (mantissa, power) = shortest.split_once('e').unwrap_or((&shortest, "0"));
    let power: i32 = power.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(mantissa) => ("-", mantissa),
        None => ("", mantissa),
    };
    let digits: String = mantissa.chars().filter(|&c| c != '.').collect();
    let point = power + 1;
    let behind = usize::try_from(digits.len() as i32 - point).unwrap_or(0);
    if behind > precision {
        let text = format!("{x:.precision$}");
        return match text.contains('.') {
            true => text.trim_end_matches('0').to_owned(),
            false => text + ".",
        };
    }
    let (whole, fraction) = match usize::try_from(point) {
        Ok(0) | Err(_) => ("0".to_owned(), "0".repeat(-point as usize) + &digits),
        Ok(point) if point >= digits.len() => (format!("{digits:0<point$}"), String::new()),
        Ok(point) => (digits[..point].to_owned(), digits[point..].to_owned()),
    };
    format!("{sign}{whole}.{}", fraction.trim_end_matches('0'))
}

/// A number by itself, with all its digits.
fn alone(x: f64, kind: Kind) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 || (1e-4..kind.large_alone()).contains(&x.abs()) {
        let text = positional(x, kind, usize::MAX);
        return if text.ends_with('.') {
            text + "0"
        } else {
            text
        };
    }
    let text = kind.shortest(x);
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    format!("{mantissa}e{}", signed_power(power, 2))
}

/// A number with six digits, as C prints it with `%g`.
fn general(x: f64) -> String {
    if !x.is_finite() {
        return alone(x, Kind::Single);
    }
    let text = format!("{x:.5e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = power.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    if (-4..6).contains(&exponent) {
        let digits = (5 - exponent) as usize;
        trimmed(&format!("{x:.digits$}"))
    } else {
        format!("{}e{}", trimmed(mantissa), signed_power(power, 2))
    }
}

fn integer(value: Scalar, plus: bool) -> String {
    let value = value.as_integer().unwrap_or(0);
    if plus {
        format!("{value:+}")
    } else {
        value.to_string()
    }
}
