//! Elementwise arithmetic, comparison, selection and conversion.

use super::*;

pending! { Neg, Sign, Abs, Floor, Ceil, IsFinite, Exp, Exp2, Expm1, Log, Log2, Log1p, Sqrt, Rsqrt, Cbrt, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Logistic, Square, OneMinusSquare, Erf, Erfc, ErfInv, Lgamma, Digamma, BesselI0e, BesselI1e, Real, Imag, Not, PopulationCount, Clz, Conj, IntegerPow, Round, ReducePrecision, StopGradient, Add, AddAny, Sub, Mul, Mulhi, Div, Rem, Max, Min, Pow, Atan2, NextAfter, Complex, And, Or, Xor, ShiftLeft, ShiftRightArithmetic, ShiftRightLogical, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, EqualTotal, LessTotal, LessEqualTotal, Igamma, Igammac, IgammaGradA, RandomGammaGrad, Polygamma, Zeta, RegularizedIncompleteBeta, Clamp, SelectN, Polynomial, ConvertElementType, BitcastConvertType, CopyArray, CopyP, PlaceName }
