//! Which arguments a derivative is taken by.

use jaxide_core::{DType, Error};
use jaxide_tree::{Pytree, TreeDef};

use crate::array::Array;
use crate::trace::{Known, raise};

/// Argument number `N`, as a type: `grad(f).argnums(Argnum::<1>)`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Argnum<const N: usize>;

/// Numbers of arguments, and the type of their gradients: [`Argnum`] or a tuple of them.
pub trait Argnums<Args>: Copy + Send + Sync + 'static {
    /// The arguments of these numbers.
    type Picked: Pytree<Array> + 'static;

    /// The numbers.
    fn numbers() -> Vec<usize>;

    /// Whether the gradients are a tuple, or one argument alone.
    fn is_tuple() -> bool;
}

macro_rules! pick {
    ($($number:literal $picked:ident ($($arg:ident)*);)*) => { $(
        impl<$($arg: Pytree<Array> + 'static),*> Argnums<($($arg,)*)> for Argnum<$number> {
            type Picked = $picked;

            fn numbers() -> Vec<usize> {
                vec![$number]
            }

            fn is_tuple() -> bool {
                false
            }
        }
    )* };
}

pick! {
    0 A (A);
    0 A (A B);
    1 B (A B);
    0 A (A B C);
    1 B (A B C);
    2 C (A B C);
    0 A (A B C D);
    1 B (A B C D);
    2 C (A B C D);
    3 D (A B C D);
    0 A (A B C D E);
    1 B (A B C D E);
    2 C (A B C D E);
    3 D (A B C D E);
    4 E (A B C D E);
    0 A (A B C D E G);
    1 B (A B C D E G);
    2 C (A B C D E G);
    3 D (A B C D E G);
    4 E (A B C D E G);
    5 G (A B C D E G);
    0 A (A B C D E G H);
    1 B (A B C D E G H);
    2 C (A B C D E G H);
    3 D (A B C D E G H);
    4 E (A B C D E G H);
    5 G (A B C D E G H);
    6 H (A B C D E G H);
    0 A (A B C D E G H I);
    1 B (A B C D E G H I);
    2 C (A B C D E G H I);
    3 D (A B C D E G H I);
    4 E (A B C D E G H I);
    5 G (A B C D E G H I);
    6 H (A B C D E G H I);
    7 I (A B C D E G H I);
}

macro_rules! pick_tuples {
    ($(($($pick:ident)+))*) => { $(
        impl<Args, $($pick: Argnums<Args>),+> Argnums<Args> for ($($pick,)+) {
            type Picked = ($($pick::Picked,)+);

            fn numbers() -> Vec<usize> {
                [$($pick::numbers()),+].concat()
            }

            fn is_tuple() -> bool {
                true
            }
        }
    )* };
}

pick_tuples! { (P) (P Q) (P Q R) (P Q R S) (P Q R S T) (P Q R S T U) }

/// The leaves of the listed arguments, and their structure as the gradient has it.
pub(super) struct Selection {
    pub(super) leaves: Vec<usize>,
    pub(super) treedef: TreeDef,
    /// The number of the argument that each leaf is of, and its path there.
    places: Vec<(usize, String)>,
}

impl Selection {
    /// The leaves must be differentiable: floats, complex numbers of gradients, and where asked for these alone.
    #[track_caller]
    pub(super) fn check(&self, operation: &str, args: &[Array], holomorphic: bool) {
        for (&leaf, (number, path)) in self.leaves.iter().zip(&self.places) {
            let dtype = args[leaf].dtype();
            let (fits, want) = if holomorphic {
                (dtype.is_complex(), "complex")
            } else {
                // The gradient of a real number by a complex one is complex.
                let gradient = matches!(operation, "grad" | "value_and_grad");
                let fits = dtype.is_float() || (gradient && dtype.is_complex());
                (fits, "floating-point")
            };
            if fits {
                continue;
            }
            let mut error = Error::dtype(format!(
                "argument {number} is {}, and {want} elements are expected",
                args[leaf].aval()
            ))
            .in_operation(operation)
            .at_path(path);
            if dtype == DType::Bool || dtype.is_integer() {
                error = error.note(
                    "differentiate by other arguments with `.argnums(...)`, or convert it with `astype`",
                );
            }
            raise(error);
        }
    }
}

/// Which leaves of the arguments a derivative is taken by.
pub(super) fn select<Args, N: Argnums<Args>>(args: &TreeDef) -> Selection {
    selection(args, &N::numbers(), N::is_tuple())
}

fn selection(args: &TreeDef, numbers: &[usize], is_tuple: bool) -> Selection {
    let children = args.children();
    let mut starts = vec![0];
    for child in &children {
        starts.push(starts[starts.len() - 1] + child.num_leaves());
    }
    let leaves = numbers
        .iter()
        .flat_map(|&number| starts[number]..starts[number + 1])
        .collect();
    let places = numbers.iter().flat_map(|&number| {
        let paths = children[number].key_paths();
        paths
            .into_iter()
            .map(move |path| (number, path.to_string()))
    });
    let places = places.collect();
    let picked: Vec<TreeDef> = numbers
        .iter()
        .map(|&number| children[number].clone())
        .collect();
    let treedef = if is_tuple {
        TreeDef::tuple(&picked)
    } else {
        picked[0].clone()
    };
    Selection {
        leaves,
        treedef,
        places,
    }
}

/// Values for value-dependent control flow, when the call is not part of a trace without them.
pub(super) fn known(leaves: &[Array]) -> Known {
    Known::Values(leaves.to_vec())
}

/// Numbers of arguments behind the captured ones.
pub(super) fn behind(captured: usize, numbers: &[usize]) -> Vec<usize> {
    numbers.iter().map(|number| number + captured).collect()
}
