//! The table of primitives: one row each, from which the enum, the parameters' text and the reference are generated.
//!
//! A row gives the variant, the printed name, the numbers of operands and results (`n` is any), a line of
//! documentation, and the parameters in the order in which they are printed. A parameter marked `elided` is
//! printed only when it differs from its default, one marked `hidden` never.
//!
//! The rules of a primitive are its implementation of [`Primitive`](super::Primitive), in the file of its family.

use super::*;
use std::borrow::{Borrow, BorrowMut};

use crate::dtype::DType;
use crate::jaxpr::{Aval, ClosedJaxpr, Dims, Scalar};

super::primitives! {
    Elementwise {
        /// Negation.
        Neg "neg" (1 -> 1);
        /// Sign: -1, 0 or 1, keeping -0.0 and NaN; `z/|z|` for complex numbers.
        Sign "sign" (1 -> 1);
        /// Absolute value; a real result for complex numbers.
        Abs "abs" (1 -> 1);
        /// Largest integer not above.
        Floor "floor" (1 -> 1);
        /// Smallest integer not below.
        Ceil "ceil" (1 -> 1);
        /// Whether neither infinite nor NaN.
        IsFinite "is_finite" (1 -> 1);
        /// Exponential.
        Exp "exp" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Power of two.
        Exp2 "exp2" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Exponential minus one, exact near zero.
        Expm1 "expm1" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Natural logarithm.
        Log "log" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Logarithm to base two.
        Log2 "log2" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Logarithm of one plus, exact near zero.
        Log1p "log1p" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Square root.
        Sqrt "sqrt" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Reciprocal square root.
        Rsqrt "rsqrt" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Cube root.
        Cbrt "cbrt" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Sine (radians).
        Sin "sin" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Cosine (radians).
        Cos "cos" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Tangent (radians).
        Tan "tan" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Inverse sine.
        Asin "asin" (1 -> 1);
        /// Inverse cosine.
        Acos "acos" (1 -> 1);
        /// Inverse tangent.
        Atan "atan" (1 -> 1);
        /// Hyperbolic sine.
        Sinh "sinh" (1 -> 1);
        /// Hyperbolic cosine.
        Cosh "cosh" (1 -> 1);
        /// Hyperbolic tangent.
        Tanh "tanh" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Inverse hyperbolic sine.
        Asinh "asinh" (1 -> 1);
        /// Inverse hyperbolic cosine.
        Acosh "acosh" (1 -> 1);
        /// Inverse hyperbolic tangent.
        Atanh "atanh" (1 -> 1);
        /// Logistic function `1 / (1 + exp(-x))`.
        Logistic "logistic" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Product with itself.
        Square "square" (1 -> 1);
        /// `1 - x*x`, computed as `(1 - x) * (1 + x)` where that is more exact.
        OneMinusSquare "one_minus_square" (1 -> 1);
        /// Error function.
        Erf "erf" (1 -> 1);
        /// Complementary error function.
        Erfc "erfc" (1 -> 1) {
            /// Requested accuracy; every result here is accurate.
            accuracy: Option<Opaque> = elided,
        };
        /// Inverse error function.
        ErfInv "erf_inv" (1 -> 1);
        /// Logarithm of the absolute value of the gamma function.
        Lgamma "lgamma" (1 -> 1);
        /// Derivative of `lgamma`.
        Digamma "digamma" (1 -> 1);
        /// Exponentially scaled modified Bessel function of order 0.
        BesselI0e "bessel_i0e" (1 -> 1);
        /// Exponentially scaled modified Bessel function of order 1.
        BesselI1e "bessel_i1e" (1 -> 1);
        /// Real part.
        Real "real" (1 -> 1);
        /// Imaginary part.
        Imag "imag" (1 -> 1);
        /// Bitwise or logical negation.
        Not "not" (1 -> 1);
        /// Number of one bits.
        PopulationCount "population_count" (1 -> 1);
        /// Number of leading zero bits.
        Clz "clz" (1 -> 1);
        /// Complex conjugate; a real input becomes complex.
        Conj "conj" (1 -> 1) {
            /// Element type of the function this is part of.
            input_dtype: DType,
        };
        /// Power with a fixed integer exponent, by repeated multiplication.
        IntegerPow "integer_pow" (1 -> 1) {
            /// The exponent.
            y: i64,
        };
        /// Nearest integer.
        Round "round" (1 -> 1) {
            /// What happens to halves.
            rounding_method: RoundingMethod,
        };
        /// Rounds to a format with fewer bits.
        ReducePrecision "reduce_precision" (1 -> 1) {
            /// Bits of the exponent.
            exponent_bits: u32,
            /// Bits of the mantissa.
            mantissa_bits: u32,
        };
        /// The identity, with derivative zero.
        StopGradient "stop_gradient" (1 -> 1);
        /// Sum.
        Add "add" (2 -> 1);
        /// Sum of cotangents; of truth values, whether either holds.
        AddAny "add_any" (2 -> 1);
        /// Difference.
        Sub "sub" (2 -> 1);
        /// Product.
        Mul "mul" (2 -> 1) {
            /// Element type of the result, where it differs.
            out_dtype: Option<DType> = elided,
        };
        /// Upper half of the product of integers.
        Mulhi "mulhi" (2 -> 1);
        /// Quotient; integers truncate towards zero.
        Div "div" (2 -> 1);
        /// Remainder with the sign of the dividend.
        Rem "rem" (2 -> 1);
        /// Larger of two; NaN if either is.
        Max "max" (2 -> 1);
        /// Smaller of two; NaN if either is.
        Min "min" (2 -> 1);
        /// Power; the exponent may be an integer array.
        Pow "pow" (2 -> 1);
        /// Angle of the point (second, first).
        Atan2 "atan2" (2 -> 1);
        /// Next representable number from the first towards the second.
        NextAfter "nextafter" (2 -> 1);
        /// Complex number from real and imaginary part.
        Complex "complex" (2 -> 1);
        /// Bitwise or logical and.
        And "and" (2 -> 1);
        /// Bitwise or logical or.
        Or "or" (2 -> 1);
        /// Bitwise or logical exclusive or.
        Xor "xor" (2 -> 1);
        /// Shift to the left; 0 from the bit width on.
        ShiftLeft "shift_left" (2 -> 1);
        /// Shift to the right that keeps the sign.
        ShiftRightArithmetic "shift_right_arithmetic" (2 -> 1);
        /// Shift to the right that fills with zeros.
        ShiftRightLogical "shift_right_logical" (2 -> 1);
        /// Whether equal.
        Equal "eq" (2 -> 1);
        /// Whether different.
        NotEqual "ne" (2 -> 1);
        /// Whether less.
        Less "lt" (2 -> 1);
        /// Whether less or equal.
        LessEqual "le" (2 -> 1);
        /// Whether greater.
        Greater "gt" (2 -> 1);
        /// Whether greater or equal.
        GreaterEqual "ge" (2 -> 1);
        /// Equality in the total order of floats.
        EqualTotal "eq_to" (2 -> 1);
        /// Less in the total order of floats.
        LessTotal "lt_to" (2 -> 1);
        /// Less or equal in the total order of floats.
        LessEqualTotal "le_to" (2 -> 1);
        /// Regularised lower incomplete gamma function.
        Igamma "igamma" (2 -> 1);
        /// Regularised upper incomplete gamma function.
        Igammac "igammac" (2 -> 1);
        /// Derivative of `igamma` in its first argument.
        IgammaGradA "igamma_grad_a" (2 -> 1);
        /// Polygamma function of order `m`.
        Polygamma "polygamma" (2 -> 1);
        /// Hurwitz zeta function.
        Zeta "zeta" (2 -> 1);
        /// Regularised incomplete beta function.
        RegularizedIncompleteBeta "regularized_incomplete_beta" (3 -> 1);
        /// The second operand moved between the first and the third (scalars or of its shape).
        Clamp "clamp" (3 -> 1);
        /// The case that the first operand (bool or i32, scalar or of the cases' shape) selects.
        SelectN "select_n" (n -> 1);
        /// Polynomial of the first operand with the other operands as coefficients, lowest degree first.
        Polynomial "polynomial" (n -> 1) {
            /// How many terms JAX writes out before it loops; the result is the same.
            unroll: Option<usize> = elided,
        };
        /// Conversion of the element type.
        ConvertElementType "convert_element_type" (1 -> 1) {
            /// Element type of the result.
            new_dtype: DType,
            /// Whether the result is weakly typed.
            weak_type: bool,
        };
        /// The same bits as another element type; the width ratio becomes or takes a last axis.
        BitcastConvertType "bitcast_convert_type" (1 -> 1) {
            /// Element type of the result.
            new_dtype: DType,
        };
        /// The identity, as a new array.
        CopyArray "copy" (1 -> 1);
        /// The identity, as a new array (internal form).
        CopyP "copy_p" (1 -> 1);
        /// The identity, marking a value for checkpoint policies.
        PlaceName "name" (1 -> 1) {
            /// The name policies see.
            name: Name,
        };
        /// Mantissa in [0.5, 1) and exponent.
        Frexp "Frexp" (1 -> 2) {
            /// Type of the operand.
            x_aval: Opaque,
        };
        /// `x1 * 2**x2`.
        Ldexp "Ldexp" (2 -> 1) {
            /// Type of the first operand.
            x1_aval: Opaque,
            /// Type of the second operand.
            x2_aval: Opaque,
        };
    }
    Shape {
        /// Numbers 0, 1, 2, ... along an axis.
        Iota "iota" (0 -> 1) {
            /// The axis counted along.
            dimension: usize,
            /// Element type.
            dtype: DType,
            /// Shape.
            shape: Dims,
            /// Placement; `None`.
            sharding: Opaque,
        };
        /// Uninitialised memory whose contents never matter; zeros here.
        Empty "empty2" (0 -> 1) {
            /// Element type.
            dtype: DType,
            /// Memory.
            memory_space: Opaque,
            /// Shape; not printed.
            shape: Dims = hidden,
        };
        /// Uninitialised memory that may be read; zeros here, as XLA gives on CPU.
        EmptyArray "empty" (0 -> 1) {
            /// Element type.
            dtype: DType,
            /// Placement; `None`.
            out_sharding: Opaque,
            /// Shape.
            shape: Dims,
        };
        /// Places the operand's axes among those of a larger shape and repeats along the others.
        BroadcastInDim "broadcast_in_dim" (n -> 1) {
            /// The axis of the result for each axis of the operand.
            broadcast_dimensions: Dims = elided,
            /// Shape of the result; not printed.
            shape: Dims = hidden,
        };
        /// Repeats axes of length 1, and new leading axes, until the shape is reached (NumPy's rule).
        BroadcastTo "broadcast_to" (1 -> 1) {
            /// Shape of the result.
            shape: Dims,
        };
        /// The same elements in row-major order under another shape.
        Reshape "reshape" (1 -> 1) {
            /// Order in which the operand's axes are read first.
            dimensions: Option<Dims>,
            /// Shape of the result.
            new_sizes: Dims,
            /// Placement; `None`.
            sharding: Opaque,
        };
        /// Permutes the axes.
        Transpose "transpose" (1 -> 1) {
            /// The operand's axis for each axis of the result.
            permutation: Dims,
        };
        /// Removes axes of length 1.
        Squeeze "squeeze" (1 -> 1) {
            /// The axes.
            dimensions: Dims,
        };
        /// A box with strides.
        Slice "slice" (1 -> 1) {
            /// First index outside, by axis.
            limit_indices: Dims,
            /// First index, by axis.
            start_indices: Dims,
            /// Step, by axis; `None` is 1.
            strides: Option<Dims>,
        };
        /// Adds (or, negative, removes) elements at the edges and between elements.
        Pad "pad" (2 -> 1) {
            /// Low, high and interior padding, by axis.
            padding_config: Vec<(i64, i64, i64)>,
        };
        /// Reverses axes.
        Rev "rev" (1 -> 1) {
            /// The axes.
            dimensions: Dims,
        };
        /// Joins arrays along an axis.
        Concatenate "concatenate" (n -> 1) {
            /// The axis.
            dimension: usize,
        };
        /// Cuts an array along an axis.
        Split "split" (1 -> n) {
            /// The axis.
            axis: usize,
            /// Lengths of the parts.
            sizes: Dims,
        };
        /// Joins arrays along a new axis.
        Stack "stack" (n -> 1) {
            /// The new axis.
            axis: usize,
        };
        /// Cuts an array into its slices along an axis, which disappears.
        Unstack "unstack" (1 -> n) {
            /// The axis.
            axis: usize,
        };
        /// Repeats the array along its axes.
        Tile "tile" (1 -> 1) {
            /// Repetitions by axis.
            reps: Dims,
        };
    }
    Indexing {
        /// A box whose start (the scalar operands) is moved so that it fits.
        DynamicSlice "dynamic_slice" (n -> 1) {
            /// Lengths of the box.
            slice_sizes: Dims,
        };
        /// Writes a box (second operand) at a start (the scalar operands) that is moved so that it fits.
        DynamicUpdateSlice "dynamic_update_slice" (n -> 1);
        /// Reads windows at indices.
        Gather "gather" (2 -> 1) {
            /// Which axes mean what.
            dimension_numbers: GatherDimensionNumbers,
            /// What FILL_OR_DROP gives outside.
            fill_value: Option<Scalar>,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// Lengths of the window by operand axis.
            slice_sizes: Dims,
            /// A promise.
            unique_indices: bool,
        };
        /// Writes windows at indices.
        Scatter "scatter" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
        /// Adds windows at indices.
        ScatterAdd "scatter-add" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
        /// Subtracts windows at indices.
        ScatterSub "scatter-sub" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
        /// Multiplies windows at indices.
        ScatterMul "scatter-mul" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
        /// Takes the smaller at indices.
        ScatterMin "scatter-min" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
        /// Takes the larger at indices.
        ScatterMax "scatter-max" (3 -> 1) {
            /// Which axes mean what.
            dimension_numbers: ScatterDimensionNumbers,
            /// A promise.
            indices_are_sorted: bool,
            /// What happens out of bounds.
            mode: GatherScatterMode,
            /// A promise.
            unique_indices: bool,
            /// Always empty.
            update_consts: NoConsts,
            /// The combiner, which the name already tells.
            update_jaxpr: OptionalJaxpr,
        };
    }
    Reduction {
        /// Sum along axes.
        ReduceSum "reduce_sum" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
            /// Placement; `None`.
            out_sharding: Opaque,
        };
        /// Largest along axes; NaN if any is.
        ReduceMax "reduce_max" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
            /// Placement; `None`.
            out_sharding: Opaque,
        };
        /// Smallest along axes; NaN if any is.
        ReduceMin "reduce_min" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
            /// Placement; `None`.
            out_sharding: Opaque,
        };
        /// Product along axes.
        ReduceProd "reduce_prod" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
        };
        /// And along axes.
        ReduceAnd "reduce_and" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
        };
        /// Or along axes.
        ReduceOr "reduce_or" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
        };
        /// Exclusive or along axes.
        ReduceXor "reduce_xor" (1 -> 1) {
            /// The axes that disappear.
            axes: Dims,
        };
        /// Index of the first largest along an axis; of the first NaN if there is one.
        Argmax "argmax" (1 -> 1) {
            /// The one axis.
            axes: Dims,
            /// Element type of the result.
            index_dtype: DType,
        };
        /// Index of the first smallest along an axis; of the first NaN if there is one.
        Argmin "argmin" (1 -> 1) {
            /// The one axis.
            axes: Dims,
            /// Element type of the result.
            index_dtype: DType,
        };
        /// Reduction with any associative function: operands, then initial values.
        Reduce "reduce" (n -> n) {
            /// The function's repr.
            computation: Opaque,
            /// The axes that disappear.
            dimensions: Dims,
            /// The function of two sets of scalars.
            jaxpr: ClosedJaxpr,
        };
        /// Running sum.
        Cumsum "cumsum" (1 -> 1) {
            /// The axis.
            axis: usize,
            /// Whether from the end.
            reverse: bool,
        };
        /// Running product.
        Cumprod "cumprod" (1 -> 1) {
            /// The axis.
            axis: usize,
            /// Whether from the end.
            reverse: bool,
        };
        /// Running maximum.
        Cummax "cummax" (1 -> 1) {
            /// The axis.
            axis: usize,
            /// Whether from the end.
            reverse: bool,
        };
        /// Running minimum.
        Cummin "cummin" (1 -> 1) {
            /// The axis.
            axis: usize,
            /// Whether from the end.
            reverse: bool,
        };
        /// Running log of the sum of exponentials.
        Cumlogsumexp "cumlogsumexp" (1 -> 1) {
            /// The axis.
            axis: usize,
            /// Whether from the end.
            reverse: bool,
        };
        /// Sorts along an axis by the first operands, all operands together.
        Sort "sort" (n -> n) {
            /// The axis.
            dimension: usize,
            /// Whether equal keys keep their order (they always do).
            is_stable: bool,
            /// How many operands are keys.
            num_keys: usize,
        };
        /// The largest elements along an axis, and their indices.
        TopK "top_k" (1 -> 2) {
            /// The axis.
            axis: usize,
            /// Ties in order of index (always).
            is_stable: bool,
            /// How many.
            k: usize,
        };
        /// As `top_k`; exact here.
        ApproxTopK "approx_top_k" (1 -> 2) {
            /// Whether the result has exactly `k` elements.
            aggregate_to_topk: bool,
            /// Largest or smallest.
            is_max_k: bool,
            /// How many.
            k: usize,
            /// Required share of true results.
            recall_target: RealNumber,
            /// The axis, negative from the end.
            reduction_dimension: i64,
            /// A hint.
            reduction_input_size_override: i64,
        };
        /// Indices of non-zero elements in row-major order, filled up to a fixed number.
        Nonzero "Nonzero" (n -> n) {
            /// Number of indices.
            size: usize,
            /// Axes searched together.
            axes: Dims,
            /// Element type of the indices.
            out_dtype: DType,
        };
        /// Where values would be inserted in a sorted array.
        SearchSorted "SearchSorted" (2 -> 1) {
            /// Before or after equal elements.
            side: SearchSide,
            /// The sorted axis.
            dimension: usize,
            /// Leading axes in common.
            batch_dims: usize,
            /// How JAX computes it.
            method: Name,
        };
    }
    Window {
        /// Sum over windows.
        ReduceWindowSum "reduce_window_sum" (1 -> 1) {
            /// Holes between elements, plus one.
            base_dilation: Dims,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Holes in the window, plus one.
            window_dilation: Dims,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Largest over windows.
        ReduceWindowMax "reduce_window_max" (1 -> 1) {
            /// Holes between elements, plus one.
            base_dilation: Dims,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Holes in the window, plus one.
            window_dilation: Dims,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Smallest over windows.
        ReduceWindowMin "reduce_window_min" (1 -> 1) {
            /// Holes between elements, plus one.
            base_dilation: Dims,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Holes in the window, plus one.
            window_dilation: Dims,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Reduction over windows with any associative function: operands, then initial values.
        ReduceWindow "reduce_window" (n -> n) {
            /// Holes between elements, plus one.
            base_dilation: Dims,
            /// Always empty.
            consts: NoConsts,
            /// The function of two sets of scalars.
            jaxpr: ClosedJaxpr,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Holes in the window, plus one.
            window_dilation: Dims,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Sends each source element to the selected element of its window and combines there.
        SelectAndScatter "select_and_scatter" (3 -> 1) {
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Always empty.
            scatter_consts: NoConsts,
            /// The combiner.
            scatter_jaxpr: ClosedJaxpr,
            /// Always empty.
            select_consts: NoConsts,
            /// The selection.
            select_jaxpr: ClosedJaxpr,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Adds each source element to the selected element of its window.
        SelectAndScatterAdd "select_and_scatter_add" (2 -> 1) {
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// The selection.
            select_prim: SelectPrim,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Reads from the first operand where the second is selected in its window.
        SelectAndGatherAdd "select_and_gather_add" (2 -> 1) {
            /// Holes between elements, plus one.
            base_dilation: Dims,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// The selection.
            select_prim: SelectPrim,
            /// Holes in the window, plus one.
            window_dilation: Dims,
            /// Lengths of the window.
            window_dimensions: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
        /// Convolution (without flip) of any rank.
        ConvGeneralDilated "conv_general_dilated" (2 -> 1) {
            /// Groups of the batch axis.
            batch_group_count: usize,
            /// Which axes mean what.
            dimension_numbers: ConvDimensionNumbers,
            /// Groups of the feature axis.
            feature_group_count: usize,
            /// Holes between input elements, plus one.
            lhs_dilation: Dims,
            /// Placement; `None`.
            out_sharding: Opaque,
            /// Low and high padding by axis.
            padding: Vec<(i64, i64)>,
            /// Requested precision.
            precision: Option<DotPrecision>,
            /// Element type of the result.
            preferred_element_type: Option<DType>,
            /// Holes in the kernel, plus one.
            rhs_dilation: Dims,
            /// Steps of the window.
            window_strides: Dims,
        };
    }
    Linalg {
        /// Product of arrays over contracted axes, with batch axes.
        DotGeneral "dot_general" (2 -> 1) {
            /// Contracted and batch axes.
            dimension_numbers: DotDimensionNumbers,
            /// Placement.
            out_sharding: Option<Opaque> = elided,
            /// Requested precision.
            precision: Option<DotPrecision> = elided,
            /// Element type of the result.
            preferred_element_type: Option<DType> = elided,
        };
        /// Product whose left rows fall in groups, each with its own right operand.
        RaggedDotGeneral "ragged_dot_general" (3 -> 1) {
            /// Unused.
            group_offset: Opaque,
            /// Placement; `None`.
            out_sharding: Opaque,
            /// Requested precision.
            precision: Option<DotPrecision>,
            /// Element type of the result.
            preferred_element_type: Option<SpelledDType>,
            /// Which axes mean what.
            ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
        };
        /// Product of block-scaled operands: lhs, rhs, their scales.
        ScaledDot "scaled_dot" (4 -> 1) {
            /// Contracted and batch axes.
            dimension_numbers: ((Dims, Dims), (Dims, Dims)),
            /// Element type of the result.
            preferred_element_type: Option<DType>,
        };
        /// Lower Cholesky factor; NaN where there is none.
        Cholesky "cholesky" (1 -> 1);
        /// Factor of the matrix plus an outer product.
        CholeskyUpdate "cholesky_update" (2 -> 1);
        /// LU factors in one matrix, pivots, permutation.
        Lu "lu" (1 -> 3);
        /// Permutation from row swaps.
        LuPivotsToPermutation "lu_pivots_to_permutation" (1 -> 1) {
            /// Number of rows.
            permutation_size: usize,
        };
        /// QR factors, with pivots where asked for.
        Qr "qr" (1 -> n) {
            /// Square first factor.
            full_matrices: bool,
            /// Column pivoting.
            pivoting: bool,
            /// Unused.
            use_magma: Opaque,
        };
        /// QR in packed form: reflectors below R, and their scales.
        Geqrf "geqrf" (1 -> 2);
        /// Column-pivoted QR in packed form.
        Geqp3 "geqp3" (2 -> 3) {
            /// Unused.
            use_magma: Opaque,
        };
        /// The matrix Q from packed reflectors.
        HouseholderProduct "householder_product" (2 -> 1);
        /// Multiplies with Q from packed reflectors.
        Ormqr "ormqr" (3 -> 1) {
            /// From the left.
            left: bool,
            /// With the (conjugate) transpose.
            transpose: bool,
        };
        /// Eigenvectors and eigenvalues of a Hermitian matrix.
        Eigh "eigh" (1 -> n) {
            /// Unused.
            algorithm: Opaque,
            /// Which triangle is read.
            lower: bool,
            /// Ascending order.
            sort_eigenvalues: bool,
            /// Which eigenvalues.
            subset_by_index: Option<(usize, usize)>,
        };
        /// Eigenvalues, left and right eigenvectors of a matrix.
        Eig "eig" (1 -> n) {
            /// Whether.
            compute_left_eigenvectors: bool,
            /// Whether.
            compute_right_eigenvectors: bool,
            /// Whether eigenvectors have derivatives.
            enable_eigvec_derivs: bool,
            /// Unused.
            implementation: Opaque,
        };
        /// Singular values and vectors.
        Svd "svd" (1 -> n) {
            /// Unused.
            algorithm: Opaque,
            /// Whether the vectors are results.
            compute_uv: bool,
            /// Square factors.
            full_matrices: bool,
            /// Which values.
            subset_by_index: Option<(usize, usize)>,
        };
        /// Schur form and vectors.
        Schur "schur" (1 -> n) {
            /// Whether.
            compute_schur_vectors: bool,
            /// Unused.
            select_callable: Opaque,
            /// Whether eigenvalues are ordered.
            sort_eig_vals: bool,
        };
        /// Hessenberg form in packed form, and scales of the reflectors.
        Hessenberg "hessenberg" (1 -> 2);
        /// Tridiagonal form of a Hermitian matrix: packed, diagonal, off-diagonal, scales.
        Tridiagonal "tridiagonal" (1 -> 4) {
            /// Which triangle is read.
            lower: bool,
        };
        /// Solves with a tridiagonal matrix: lower, diagonal, upper, right-hand side.
        TridiagonalSolve "tridiagonal_solve" (4 -> 1) {
            /// Whether tiny pivots are moved away from zero, so that the solution is finite.
            perturb_singular: bool,
        };
        /// Solves with a triangular matrix.
        TriangularSolve "triangular_solve" (2 -> 1) {
            /// With the conjugate.
            conjugate_a: bool,
            /// From the left.
            left_side: bool,
            /// Which triangle.
            lower: bool,
            /// With the transpose.
            transpose_a: bool,
            /// Diagonal of ones.
            unit_diagonal: bool,
        };
        /// `alpha * A * A^T + beta * C`.
        SymmetricProduct "symmetric_product" (2 -> 1) {
            /// Factor of the product.
            alpha: RealNumber,
            /// Factor of the second operand.
            beta: RealNumber,
        };
        /// Discrete Fourier transform over the last axes.
        Fft "fft" (1 -> 1) {
            /// Lengths of those axes.
            fft_lengths: Dims,
            /// Which transform.
            fft_type: FftType,
        };
    }
    Random {
        /// The Threefry block cipher: two key words, two counter words.
        Threefry2x32 "threefry2x32" (4 -> 2);
        /// The Threefry block cipher: four key words, four counter words.
        Threefry4x32 "threefry4x32" (8 -> 4);
        /// The Philox block cipher: two key words, four counter words.
        Philox4x32 "philox4x32" (6 -> 4);
        /// The Philox block cipher: one key word, two counter words.
        Philox2x32 "philox2x32" (3 -> 2);
        /// High and low words of the 64-bit numbers 0, 1, ... in a shape.
        Iota2x32Shape "iota_2x32_shape" (0 -> 2) {
            /// Shape of both results.
            shape: Dims,
        };
        /// Random bits from keys.
        RandomBits "random_bits" (1 -> 1) {
            /// 8, 16, 32 or 64.
            bit_width: usize,
            /// Shape per key.
            shape: Dims,
        };
        /// Keys from integers.
        RandomSeed "random_seed" (1 -> 1) {
            /// Kind of key.
            impl_: KeyImpl,
        };
        /// Typed keys from words.
        RandomWrap "random_wrap" (1 -> 1) {
            /// Kind of key.
            impl_: KeyImpl,
        };
        /// Words of typed keys.
        RandomUnwrap "random_unwrap" (1 -> 1);
        /// New keys from a key.
        RandomSplit "random_split" (1 -> 1) {
            /// Shape per key.
            shape: Dims,
        };
        /// New keys from keys and integers.
        RandomFoldIn "random_fold_in" (2 -> 1);
        /// The same keys.
        RandomClone "random_clone" (1 -> 1);
        /// Gamma samples: keys, shape parameters.
        RandomGamma "random_gamma" (2 -> 1) {
            /// Logarithms of the samples.
            log_space: bool,
        };
        /// New state and bits.
        RngBitGenerator "rng_bit_generator" (1 -> 2) {
            /// The generator.
            algorithm: RngAlgorithm,
            /// Element type.
            dtype: DType,
            /// Placement; `None`.
            out_sharding: Opaque,
            /// Shape.
            shape: Dims,
        };
    }
    Control {
        /// The branch that the first operand (i32, in range) selects, applied to the others.
        Cond "cond" (n -> n) {
            /// The branches by index.
            branches: Branches,
            /// Platforms of the branches.
            branches_platforms: Option<Opaque> = elided,
        };
        /// Repeats a body while a condition holds: constants of both, then the carry.
        While "while" (n -> n) {
            /// Constants and carry to carry.
            body_jaxpr: ClosedJaxpr,
            /// Constants of the body.
            body_nconsts: usize,
            /// Constants and carry to bool; with leading axes each lane stops on its own.
            cond_jaxpr: ClosedJaxpr,
            /// Constants of the condition.
            cond_nconsts: usize,
        };
        /// Runs a body over slices: constants, carry, stacked inputs to carry, stacked results.
        Scan "scan" (n -> n) {
            /// Counts of constants, carries, stacked inputs.
            ft_in: ScanInputs,
            /// Counts of carries and stacked results.
            ft_out: ScanOutputs,
            /// Constants, carry, slices to carry, slices.
            jaxpr: ClosedJaxpr,
            /// Number of steps.
            length: usize,
            /// From the last slice to the first.
            reverse: bool,
            /// A hint.
            unroll: usize,
        };
        /// A call of a named function.
        Jit "jit" (n -> n) {
            /// The function.
            name: Name,
            /// Options of XLA.
            compiler_options_kvs: Option<Opaque> = elided,
            /// The mesh in whose context it was called.
            ctx_mesh: Option<Opaque> = elided,
            /// Arguments whose memory may be reused.
            donated_invars: Vec<bool> = elided,
            /// Layouts of the arguments.
            in_layouts: Option<Opaque> = elided,
            /// Placements of the arguments.
            in_shardings: Option<Opaque> = elided,
            /// The function.
            jaxpr: ClosedJaxpr,
            /// A hint.
            keep_unused: bool = elided,
            /// Layouts of the results.
            out_layouts: Option<Opaque> = elided,
            /// Placements of the results.
            out_shardings: Option<Opaque> = elided,
            /// Whether tracing inlines it; not printed.
            inline: bool = hidden,
        };
        /// A call without a name.
        EvalJaxpr "eval_jaxpr" (n -> n) {
            /// The function.
            call_jaxpr: ClosedJaxpr,
        };
        /// A call without a name.
        ClosedCall "closed_call" (n -> n) {
            /// The function.
            call_jaxpr: ClosedJaxpr,
        };
        /// A call with its own forward derivative.
        CustomJvpCall "custom_jvp_call" (n -> n) {
            /// The function.
            name: Name,
            /// The function.
            call_jaxpr: ClosedJaxpr,
            /// Primals and tangents to results and their tangents.
            jvp: Rule,
            /// Leading operands that are captured.
            num_consts: usize = elided,
            /// Whether the rule sees which tangents are zero.
            symbolic_zeros: bool,
        };
        /// A call with its own reverse derivative.
        CustomVjpCall "custom_vjp_call" (n -> n) {
            /// The function.
            name: Name,
            /// Residuals and cotangents to cotangents of the inputs.
            bwd: Rule,
            /// The function.
            call_jaxpr: ClosedJaxpr,
            /// Inputs to results and residuals.
            fwd: Rule,
            /// Leading operands that are captured.
            num_consts: usize = elided,
            /// Whether the rule sees which cotangents are zero.
            symbolic_zeros: bool,
        };
        /// The linear part of a function with its own reverse derivative: residuals, then tangents.
        CustomLin "custom_lin" (n -> n) {
            /// Residuals and cotangents to cotangents of the inputs.
            bwd: Rule,
            /// Leading operands that are residuals.
            num_res: usize,
            /// Types of the results; not printed.
            out_avals: Vec<Aval> = hidden,
            /// Whether the rule sees which cotangents are zero.
            symbolic_zeros: bool,
        };
        /// A call with its own batching rule.
        CustomVmapCall "custom_vmap_call" (n -> n) {
            /// The function.
            call: ClosedJaxpr,
            /// Structure of the arguments.
            in_tree: Opaque,
            /// Structure of the results.
            out_tree: Opaque,
            /// The rule.
            rule: Rule,
        };
        /// A call whose intermediate values are computed again for the derivative.
        Remat "remat2" (n -> n) {
            /// Whether this is the backward pass.
            differentiated: bool,
            /// The function.
            jaxpr: ClosedJaxpr,
            /// Which values may be kept.
            policy: Opaque,
            /// Whether the recomputation is protected.
            prevent_cse: bool,
        };
        /// The solution of a linear system given by functions: their constants, then right-hand sides.
        CustomLinearSolve "custom_linear_solve" (n -> n) {
            /// Constants of each function.
            const_lengths: LinearSolveLengths,
            /// The functions.
            jaxprs: LinearSolveJaxprs,
        };
        /// The forward function of a custom derivative, whose residuals are left out where nothing uses them: residuals,
        /// then results.
        RematOpt "remat_opt" (n -> n) {
            /// The function whose derivative it is; known by name only.
            fun_jaxpr_thunk: Opaque,
            /// Inputs to residuals and results.
            fwd_jaxpr: ClosedJaxpr,
            /// Leading operands that are captured.
            num_consts: usize,
            /// Leading results that are residuals.
            num_res: usize,
        };
        /// A call whose operations carry metadata for XLA, without meaning here.
        XlaMetadataCall "xla_metadata_call" (n -> n) {
            /// Metadata of the derivative's calls: pairs of names and values, or `same`.
            ad_metadata: Opaque,
            /// The function.
            jaxpr: ClosedJaxpr,
            /// Pairs of names and values.
            xla_metadata: Opaque,
        };
        /// The identity, giving the operation before it metadata for XLA.
        XlaMetadataValue "xla_metadata_value" (1 -> 1) {
            /// Pairs of names and values.
            xla_metadata_kvs: Opaque,
        };
        /// A call of a serialized program; text cannot carry it.
        CallExported "call_exported" (n -> n) {
            /// The program.
            exported: Opaque,
            /// Types of the results; not printed.
            out_avals: Vec<Aval> = hidden,
        };
        /// A call with its own transpose: residuals, then linear operands.
        LinearCall "linear_call" (n -> n) {
            /// The function.
            callee: ClosedJaxpr,
            /// Captured constants.
            num_callee_consts: usize,
            /// Residuals.
            num_res: usize,
            /// The transpose.
            transpose_thunk: Rule,
        };
        /// A root found by a solver, differentiated by the implicit function theorem.
        CustomRoot "CustomRoot" (n -> n) {
            /// The solver.
            solve_jaxpr: ClosedJaxpr,
            /// Whether the solver has further results.
            has_aux: bool,
            /// The function whose root it is: its constants and the root to values; not printed.
            f: Rule = hidden,
            /// Solves with the function's linearization: constants, the root and right-hand sides; not printed.
            tangent_solve: Rule = hidden,
            /// Numbers of the solver's constants, of guesses, of the function's constants; not printed.
            counts: (usize, usize, usize) = hidden,
        };
        /// The linear map of a root's function; known by name only when read from text.
        RootLinearMap "_RootLinearMap" (n -> n) {
            /// The function.
            f: Rule,
            /// Whether transposed.
            transposed: bool,
        };
        /// A named group of operations.
        Composite "composite" (n -> n) {
            /// Attributes.
            attributes: Opaque,
            /// The function.
            call_jaxpr: ClosedJaxpr,
            /// The name.
            name: Name,
            /// The version.
            version: usize,
        };
        /// The identity on several values.
        OptimizationBarrier "optimization_barrier" (n -> n);
        /// Index of the running platform among those named; of the default where it is not.
        PlatformIndex "platform_index" (0 -> 1) {
            /// Tuples of names, `None` for the default.
            platforms: Opaque,
        };
        /// The identity, placing values.
        DevicePut "device_put" (n -> n) {
            /// Copy or share.
            copy_semantics: Opaque,
            /// Destinations.
            devices: Opaque,
            /// Sources.
            srcs: Opaque,
        };
        /// The identity, changing placement.
        Reshard "reshard" (1 -> 1);
        /// The identity, asking for a placement.
        ShardingConstraint "sharding_constraint" (1 -> 1) {
            /// Mesh.
            context_mesh: Opaque,
            /// Layout.
            layout: Opaque,
            /// Placement.
            sharding: Opaque,
            /// Axes left open.
            unconstrained_dims: Opaque,
        };
        /// Keeps a value alive.
        DceSink "dce_sink" (1 -> 0) {
            /// A hint.
            prevent_mlir_dce: bool,
        };
        /// Prints values.
        DebugPrint "debug_print" (n -> 0) {
            /// The format.
            fmt: Name,
            /// Whether the format has any.
            has_placeholders: bool,
            /// Structure of the arguments.
            in_tree: Opaque,
            /// Unused.
            logging_record: Opaque,
            /// How arrays are printed.
            np_printoptions: Opaque,
            /// Whether in program order.
            ordered: bool,
            /// Unused.
            partitioned: bool,
            /// Arguments that are not arrays.
            static_args: Opaque,
        };
        /// A call of a host function without effects; text cannot carry it.
        PureCallback "pure_callback" (n -> n) {
            /// The function.
            callback: Opaque,
            /// Types of the results.
            result_avals: Opaque,
            /// Placement.
            sharding: Opaque,
            /// How it is batched.
            vmap_method: Opaque,
        };
        /// A call of a host function for its effect; text cannot carry it.
        DebugCallback "debug_callback" (n -> 0) {
            /// The function.
            callback: Opaque,
            /// What it does besides.
            effect: Opaque,
            /// Unused.
            partitioned: bool,
        };
        /// A call of a host function with effects; text cannot carry it.
        IoCallback "io_callback" (n -> n) {
            /// The function.
            callback: Opaque,
            /// Whether in program order.
            ordered: bool,
            /// Types of the results.
            result_avals: Opaque,
            /// Placement.
            sharding: Opaque,
        };
    }
    State {
        /// A mutable reference with an initial value.
        NewRef "new_ref" (1 -> 1) {
            /// Kind.
            kind: Opaque,
            /// Memory.
            memory_space: Opaque,
            /// Whether pinned.
            pin: bool,
        };
        /// Reads through a reference, printed `b <- a[...]`.
        RefGet "get" (n -> 1) {
            /// How it is indexed.
            indices: RefIndices = hidden,
        };
        /// Writes through a reference and gives the old value, printed `a[...] <- b`.
        RefSwap "swap" (n -> 1) {
            /// How it is indexed.
            indices: RefIndices = hidden,
        };
        /// Adds through a reference, printed `a[...] += b`.
        RefAddUpdate "addupdate" (n -> 0) {
            /// How it is indexed.
            indices: RefIndices = hidden,
        };
        /// The final value of a reference.
        FreezeRef "freeze" (1 -> 1);
        /// Runs a body on references that start as the operands and gives their final values.
        RunState "run_state" (n -> n) {
            /// Which references have an operand.
            is_initialized: Vec<bool>,
            /// The body.
            jaxpr: ClosedJaxpr,
            /// Which are linear.
            which_linear: Vec<bool>,
        };
    }
    Collective {
        /// Sum over named axes.
        Psum "psum" (n -> n) {
            /// Named axes, and axes of the operand.
            axes: Vec<AxisName>,
            /// Groups; `None`.
            axis_index_groups: Opaque,
        };
        /// Largest over named axes.
        Pmax "pmax" (n -> n) {
            /// Named axes, and axes of the operand.
            axes: Vec<AxisName>,
            /// Groups; `None`.
            axis_index_groups: Opaque,
        };
        /// Smallest over named axes.
        Pmin "pmin" (n -> n) {
            /// Named axes, and axes of the operand.
            axes: Vec<AxisName>,
            /// Groups; `None`.
            axis_index_groups: Opaque,
        };
        /// Sum over mesh axes with an invariant result.
        PsumInvariant "psum_invariant" (n -> n) {
            /// Named axes, and axes of the operand.
            axes: Vec<AxisName>,
        };
        /// The identity, marking values as different along mesh axes.
        Pvary "pvary" (n -> n) {
            /// Named axes, and axes of the operand.
            axes: Vec<AxisName>,
        };
        /// The values of all members of an axis.
        AllGather "all_gather" (1 -> 1) {
            /// Axis of the result.
            all_gather_dimension: usize,
            /// Groups; `None`.
            axis_index_groups: Opaque,
            /// The named axes.
            axis_name: AxisNames,
            /// Their size.
            axis_size: usize,
            /// Joined instead of stacked.
            tiled: bool,
        };
        /// Exchanges slices between the members of an axis.
        AllToAll "all_to_all" (1 -> 1) {
            /// Groups; `None`.
            axis_index_groups: Opaque,
            /// The named axes.
            axis_name: AxisNames,
            /// Axis joined.
            concat_axis: usize,
            /// Axis cut.
            split_axis: usize,
            /// Axes keep their place.
            tiled: bool,
            /// Number of members; not printed.
            axis_size: usize = hidden,
        };
        /// Sum over an axis, of which each member keeps a slice.
        ReduceScatter "reduce_scatter" (1 -> 1) {
            /// Groups; `None`.
            axis_index_groups: Opaque,
            /// The named axes.
            axis_name: AxisNames,
            /// Their size.
            axis_size: usize,
            /// Axis cut.
            scatter_dimension: usize,
            /// The axis keeps its place.
            tiled: bool,
        };
        /// Sends values between the members of an axis.
        Ppermute "ppermute" (1 -> 1) {
            /// The named axes.
            axis_name: AxisNames,
            /// Source and destination pairs.
            perm: Vec<(usize, usize)>,
        };
        /// The index along a named axis.
        AxisIndex "axis_index" (0 -> 1) {
            /// The named axes.
            axis_name: AxisNames,
        };
        /// Runs a body on the shards of arrays.
        ShardMap "shard_map" (n -> n) {
            /// Whether types are checked.
            check_vma: bool,
            /// Placement of operands.
            in_specs: Opaque,
            /// The body.
            jaxpr: ClosedJaxpr,
            /// Mesh.
            mesh: Opaque,
            /// Mesh axes handled here.
            newly_manual_axes: Opaque,
            /// Placement of results.
            out_specs: Opaque,
        };
        /// Runs a body once per member of an axis, in parallel.
        Pmap "xla_pmap" (n -> n) {
            /// The axis.
            axis_name: AxisNames,
            /// Its size.
            axis_size: usize,
            /// The body.
            call_jaxpr: ClosedJaxpr,
            /// Mapped axis of each operand.
            in_axes: Vec<Option<usize>>,
            /// The function.
            name: Name,
            /// Mapped axis of each result.
            out_axes: Vec<Option<usize>>,
        };
    }
}
