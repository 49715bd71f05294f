//! The primitives that the runtime computes whole, by a kernel of its own.

use jaxide_core::prims;

macro_rules! routines {
    ($($variant:ident)*) => {
        /// A primitive that is one call of the runtime, with its parameters.
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) enum Routine {
            $($variant(Box<prims::$variant>),)*
        }

        $(impl From<prims::$variant> for Routine {
            fn from(params: prims::$variant) -> Routine {
                Routine::$variant(Box::new(params))
            }
        }

        impl From<Box<prims::$variant>> for Routine {
            fn from(params: Box<prims::$variant>) -> Routine {
                Routine::$variant(params)
            }
        })*

        impl Routine {
            /// The primitive's printed name.
            pub(crate) fn name(&self) -> &'static str {
                match self {
                    $(Routine::$variant(_) => prims::$variant::NAME,)*
                }
            }

            /// The routine that a primitive is, if it is one.
            pub(crate) fn of(prim: &prims::Prim) -> Option<Routine> {
                $(if let prims::Prim::$variant(params) = prim {
                    return Some(params.clone().into());
                })*
                None
            }

            /// The primitive.
            pub(crate) fn prim(&self) -> prims::Prim {
                match self {
                    $(Routine::$variant(params) => params.as_ref().clone().into(),)*
                }
            }
        }
    };
}

routines! {
    DotGeneral
    RaggedDotGeneral
    ConvGeneralDilated
    Fft
    Cumsum
    Cumprod
    Cummax
    Cummin
    Cumlogsumexp
    Sort
    TopK
    ApproxTopK
    Nonzero
    SearchSorted
    Cholesky
    CholeskyUpdate
    Lu
    LuPivotsToPermutation
    Qr
    Geqrf
    Geqp3
    HouseholderProduct
    Ormqr
    Eigh
    Eig
    Svd
    Schur
    Hessenberg
    Tridiagonal
    TridiagonalSolve
    TriangularSolve
    RandomBits
    RandomSplit
    RandomFoldIn
    RandomGamma
    RngBitGenerator
    BitcastConvertType
    DebugPrint
    Reduce
    ReduceWindow
    SelectAndScatter
    Scatter
}
