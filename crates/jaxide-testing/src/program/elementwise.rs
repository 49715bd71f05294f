//! Elementwise genes.

use jaxide_core::prims::*;
use jaxide_core::{Atom, DType};

use super::Profile;
use super::scope::Scope;
use crate::draw::Draw;

/// Functions that every real float has, correctly rounded by all.
fn exact_functions() -> Vec<Prim> {
    vec![
        Neg.into(),
        Abs.into(),
        Sign.into(),
        Floor.into(),
        Ceil.into(),
        Square.into(),
        Sqrt { accuracy: None }.into(),
        IsFinite.into(),
        IntegerPow { y: 2 }.into(),
        Round {
            rounding_method: RoundingMethod::AwayFromZero,
        }
        .into(),
        Round {
            rounding_method: RoundingMethod::ToNearestEven,
        }
        .into(),
        ReducePrecision {
            exponent_bits: 5,
            mantissa_bits: 7,
        }
        .into(),
        CopyArray.into(),
    ]
}

/// Functions that are smooth everywhere and do not grow fast.
fn smooth_functions() -> Vec<Prim> {
    vec![
        Sin { accuracy: None }.into(),
        Tanh { accuracy: None }.into(),
        Neg.into(),
        Cos { accuracy: None }.into(),
        Logistic { accuracy: None }.into(),
        Square.into(),
        Atan.into(),
        Asinh.into(),
        Erf.into(),
        Erfc { accuracy: None }.into(),
        IntegerPow { y: 2 }.into(),
        IntegerPow { y: 3 }.into(),
        Abs.into(),
        BesselI0e.into(),
        BesselI1e.into(),
        CopyArray.into(),
        PlaceName {
            name: Name("kept".into()),
        }
        .into(),
        OneMinusSquare.into(),
        ReducePrecision {
            exponent_bits: 11,
            mantissa_bits: 52,
        }
        .into(),
    ]
}

/// Functions that are smooth between -1 and 1.
fn bounded_functions() -> Vec<Prim> {
    vec![
        Exp { accuracy: None }.into(),
        Exp2 { accuracy: None }.into(),
        Expm1 { accuracy: None }.into(),
        Sinh.into(),
        Cosh.into(),
        Tan { accuracy: None }.into(),
    ]
}

/// Functions that are smooth between -0.9 and 0.9.
fn inner_functions() -> Vec<Prim> {
    vec![Asin.into(), Acos.into(), Atanh.into(), ErfInv.into()]
}

/// Functions that are smooth from 0.5 on.
fn positive_functions() -> Vec<Prim> {
    vec![
        Log { accuracy: None }.into(),
        Log2 { accuracy: None }.into(),
        Log1p { accuracy: None }.into(),
        Sqrt { accuracy: None }.into(),
        Rsqrt { accuracy: None }.into(),
        Cbrt { accuracy: None }.into(),
        Lgamma.into(),
        Digamma.into(),
        IntegerPow { y: -1 }.into(),
        IntegerPow { y: -3 }.into(),
    ]
}

/// Functions of integers.
fn integer_functions() -> Vec<Prim> {
    vec![
        Neg.into(),
        Not.into(),
        Abs.into(),
        Sign.into(),
        PopulationCount.into(),
        Clz.into(),
        Square.into(),
        IntegerPow { y: 3 }.into(),
        IntegerPow { y: 0 }.into(),
        CopyArray.into(),
    ]
}

/// Functions of two integers.
fn integer_pairs() -> Vec<Prim> {
    vec![
        Add.into(),
        Sub.into(),
        Mul { out_dtype: None }.into(),
        Max.into(),
        Min.into(),
        Div.into(),
        Rem.into(),
        And.into(),
        Or.into(),
        Xor.into(),
        ShiftLeft.into(),
        ShiftRightArithmetic.into(),
        ShiftRightLogical.into(),
        Mulhi.into(),
    ]
}

/// Functions of two floats, correctly rounded by all.
fn exact_pairs() -> Vec<Prim> {
    vec![
        Add.into(),
        Sub.into(),
        Mul { out_dtype: None }.into(),
        Div.into(),
        Max.into(),
        Min.into(),
        Rem.into(),
        NextAfter.into(),
    ]
}

fn comparisons() -> Vec<Prim> {
    vec![
        Less.into(),
        LessEqual.into(),
        Greater.into(),
        GreaterEqual.into(),
        Equal.into(),
        NotEqual.into(),
    ]
}

impl Scope {
    /// A function of one, two or three operands.
    pub(super) fn elementwise(&mut self, draw: &mut Draw<'_>) {
        match draw.below(8) {
            0..=2 => self.pair(draw),
            3..=5 => self.single(draw),
            6 => self.comparison(draw),
            _ => self.clamp(draw),
        }
    }

    fn single(&mut self, draw: &mut Draw<'_>) {
        let smooth = self.profile.smooth().is_some();
        let x = if smooth {
            self.float(draw)
        } else {
            self.pick(draw)
        };
        let dtype = self.b.dtype(x);
        if dtype == DType::Bool {
            self.emit(Not, &[x]);
        } else if dtype.is_integer() {
            let prim = draw.choose(&integer_functions());
            self.emit(prim, &[x]);
        } else if dtype.is_complex() {
            let mut functions: Vec<Prim> = vec![
                Neg.into(),
                Real.into(),
                Imag.into(),
                Conj { input_dtype: dtype }.into(),
            ];
            if self.profile == Profile::Any {
                functions.extend([
                    Square.into(),
                    Sin { accuracy: None }.into(),
                    Exp { accuracy: None }.into(),
                    Tanh { accuracy: None }.into(),
                    Sqrt { accuracy: None }.into(),
                    Log { accuracy: None }.into(),
                    Sign.into(),
                ]);
            }
            let prim = draw.choose(&functions);
            self.emit(prim, &[x]);
        } else if smooth {
            self.smooth_single(draw, x);
        } else {
            let mut functions = exact_functions();
            if self.profile == Profile::Any {
                functions.extend(smooth_functions());
                functions.extend(bounded_functions());
                functions.extend(inner_functions());
                functions.extend(positive_functions());
            }
            let prim = draw.choose(&functions);
            self.emit(prim, &[x]);
        }
    }

    /// A function where it is smooth.
    fn smooth_single(&mut self, draw: &mut Draw<'_>, x: Atom) {
        match draw.below(5) {
            0 | 1 => {
                let prim = draw.choose(&smooth_functions());
                self.emit(prim, &[x]);
            }
            2 => {
                let inner = self.b.sin(x);
                let prim = draw.choose(&bounded_functions());
                self.emit(prim, &[inner]);
            }
            3 => {
                let inner = self.b.mul(self.b.sin(x), self.like(x, 0.9));
                let prim = draw.choose(&inner_functions());
                self.emit(prim, &[inner]);
            }
            _ => {
                let positive = self.positive(x);
                let prim = draw.choose(&positive_functions());
                self.emit(prim, &[positive]);
            }
        }
    }

    /// A number between 0.5 and 2.5 that moves with `x`.
    fn positive(&self, x: Atom) -> Atom {
        self.b.add(self.b.sin(x), self.like(x, 1.5))
    }

    /// A literal of the element type of `x`.
    pub(super) fn like(&self, x: Atom, value: f64) -> Atom {
        self.b.number(value, self.b.dtype(x))
    }

    /// A second operand for `x`: a literal, an array of its shape, or one with axes of length 1.
    pub(super) fn partner(&mut self, draw: &mut Draw<'_>, x: Atom) -> Atom {
        let aval = self.b.aval(x);
        match draw.below(6) {
            0 => {
                let value = draw.choose(&[2.0, 1.0, 0.0, 0.5, 3.0, -1.0, -0.0]);
                self.like(x, value)
            }
            1 if aval.rank() > 0 => {
                let mut shape = aval.shape.clone();
                let axis = draw.below(shape.len());
                shape[axis] = 1;
                self.pick_like(draw, &aval.with_shape(&shape))
            }
            _ => self.pick_like(draw, &aval),
        }
    }

    fn pair(&mut self, draw: &mut Draw<'_>) {
        let smooth = self.profile.smooth().is_some();
        let x = if smooth {
            self.float(draw)
        } else {
            self.pick(draw)
        };
        let y = self.partner(draw, x);
        let (x, y) = if draw.flag() { (y, x) } else { (x, y) };
        let dtype = self.b.dtype(x);
        if dtype == DType::Bool {
            let prim = draw.choose(&[And.into(), Or.into(), Xor.into(), Prim::Max(Max)]);
            self.emit(prim, &[x, y]);
        } else if dtype.is_integer() {
            let prim = draw.choose(&integer_pairs());
            self.emit(prim, &[x, y]);
        } else if dtype.is_complex() {
            let mut pairs: Vec<Prim> = vec![Add.into(), Sub.into()];
            if self.profile == Profile::Any {
                pairs.extend([Mul { out_dtype: None }.into(), Div.into(), Pow.into()]);
            }
            let prim = draw.choose(&pairs);
            self.emit(prim, &[x, y]);
        } else if smooth {
            self.smooth_pair(draw, x, y);
        } else {
            let mut pairs = exact_pairs();
            if self.profile == Profile::Any {
                pairs.extend([Pow.into(), Atan2.into(), Igamma.into(), Zeta.into()]);
            }
            let prim = draw.choose(&pairs);
            if matches!(prim, Prim::NextAfter(_)) && self.b.dtype(x).bits() < 32 {
                return;
            }
            self.emit(prim, &[x, y]);
        }
    }

    fn smooth_pair(&mut self, draw: &mut Draw<'_>, x: Atom, y: Atom) {
        let result = match draw.below(10) {
            0 | 1 => self.b.add(x, y),
            2 => self.b.mul(x, y),
            3 => self.b.sub(x, y),
            4 => self.b.max(x, y),
            5 => self.b.min(x, y),
            6 => {
                let y = self.positive(y);
                self.b.div(x, y)
            }
            7 => {
                let (x, y) = (self.positive(x), self.b.sin(y));
                self.b.pow(x, y)
            }
            8 => {
                let (x, y) = (self.b.sin(x), self.positive(y));
                self.b.atan2(x, y)
            }
            _ => self.b.add_any(x, x),
        };
        self.add(result);
    }

    fn comparison(&mut self, draw: &mut Draw<'_>) {
        let x = if self.profile.smooth().is_some() {
            self.bits(draw)
        } else {
            self.pick(draw)
        };
        let y = self.partner(draw, x);
        let mut all = comparisons();
        if self.b.dtype(x).is_complex() {
            all.drain(..4);
        }
        let prim = draw.choose(&all);
        self.emit(prim, &[x, y]);
    }

    fn clamp(&mut self, draw: &mut Draw<'_>) {
        let x = self.ordered(draw);
        if self.b.dtype(x) == DType::Bool {
            return;
        }
        // Bounds that meet have no derivative between them.
        let (low, high) = if self.profile.smooth().is_none() && draw.flag() {
            let aval = self.b.aval(x);
            (self.pick_like(draw, &aval), self.pick_like(draw, &aval))
        } else {
            (self.like(x, 1.0), self.like(x, 3.0))
        };
        self.emit(Clamp, &[low, x, high]);
    }

    /// A choice by truth values or small integers.
    pub(super) fn select(&mut self, draw: &mut Draw<'_>) {
        let x = self.pick(draw);
        let aval = self.b.aval(x);
        let count = draw.between(2, 3);
        let scalar = draw.flag();
        let which = if scalar {
            aval.with_shape(&[])
        } else {
            aval.clone()
        };
        let which = if count == 2 && draw.flag() {
            self.pick_like(draw, &which.with_dtype(DType::Bool))
        } else {
            let index = self.pick_like(draw, &which.with_dtype(DType::I32));
            let (low, high) = (self.like(index, 0.0), self.like(index, count as f64 - 1.0));
            self.apply(Clamp, &[low, index, high])[0]
        };
        let mut operands = vec![which, x];
        operands.extend((1..count).map(|_| self.pick_like(draw, &aval)));
        self.emit(SelectN, &operands);
    }

    /// Another element type.
    pub(super) fn convert(&mut self, draw: &mut Draw<'_>) {
        if let Some(float) = self.profile.smooth() {
            let x = self.bits(draw);
            let x = self.to_dtype(x, float);
            return self.add(x);
        }
        let x = self.pick(draw);
        if draw.below(4) == 3 && self.b.dtype(x).is_integer() {
            let same = match self.b.dtype(x).bits() {
                8 => [DType::I8, DType::U8],
                16 => [DType::I16, DType::BF16],
                32 => [DType::U32, DType::F32],
                _ => [DType::I64, DType::F64],
            };
            let new_dtype = draw.choose(&same);
            return self.emit(BitcastConvertType { new_dtype }, &[x]);
        }
        let dtypes = self.profile.dtypes();
        let dtype = draw.choose(&dtypes);
        let x = self.to_dtype(x, dtype);
        self.add(x);
    }
}
