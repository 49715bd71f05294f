//! Trees written as in Python.

/// A [`Tree`](crate::Tree), written as a Python value: `tree!({"a": [1, 2], "b": (3, None)})`.
///
/// `[…]` is a list, `(…)` a tuple (of one element with a comma, `(1,)`), `{key: …}` a map, `Name { field: … }` a
/// struct made at run time, `None` the empty node. Any other expression is a leaf.
///
/// ```
/// use jaxide_tree::{Tree, tree};
///
/// let tree: Tree<i32> = tree!([1 + 1, {"k": (3,), "l": None}, Point { x: (4), y: -5 }]);
/// assert_eq!(tree.to_string(), "[2, {'k': (3,), 'l': None}, Point(x=4, y=-5)]");
/// ```
///
/// # Panics
///
/// If the keys of a map have no order.
#[macro_export]
macro_rules! tree {
    ($($value:tt)+) => {
        $crate::__tree!(
            @value [$crate::Tree::Leaf, $crate::Tree::none(), $crate::Tree::record] $($value)+
        )
    };
}

/// The rules of [`tree!`] and [`axes!`](crate::axes!): `[leaf, none, struct]` say what to make of a leaf, of
/// `None` and of a struct.
#[doc(hidden)]
#[macro_export]
macro_rules! __tree {
    (@value [$leaf:path, $none:expr, $record:path] None) => { $none };
    (@value $as:tt [$($items:tt)*]) => {
        $crate::Tree::list($crate::__tree!(@items $as [] [] $($items)*))
    };
    (@value $as:tt ()) => { $crate::Tree::tuple([]) };
    (@value $as:tt ($($items:tt)+)) => { $crate::__tree!(@tuple $as [] [] $($items)+) };
    (@value $as:tt {$($items:tt)*}) => {
        $crate::Tree::dict::<$crate::Key>($crate::__tree!(@entries $as [] $($items)*))
            .expect("the keys of a map have an order")
    };
    (@value [$leaf:path, $none:expr, $record:path] $name:ident {$($fields:tt)*}) => {
        $record(
            stringify!($name),
            $crate::__tree!(@fields [$leaf, $none, $record] [] $($fields)*),
        )
    };
    (@value [$leaf:path, $none:expr, $record:path] $value:expr) => { $leaf($value) };

    // Elements of a list: collect the tokens of one up to the next comma.
    (@items $as:tt [$($done:expr),*] []) => { [$($done),*] };
    (@items $as:tt [$($done:expr),*] [$($value:tt)+]) => {
        [$($done,)* $crate::__tree!(@value $as $($value)+)]
    };
    (@items $as:tt [$($done:expr),*] [$($value:tt)+] , $($rest:tt)*) => {
        $crate::__tree!(@items $as [$($done,)* $crate::__tree!(@value $as $($value)+)] [] $($rest)*)
    };
    (@items $as:tt $done:tt [$($value:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__tree!(@items $as $done [$($value)* $next] $($rest)*)
    };

    // A tuple, or one value in parentheses.
    (@tuple $as:tt [] [$($value:tt)+]) => { $crate::__tree!(@value $as $($value)+) };
    (@tuple $as:tt [$($done:expr),+] $last:tt) => {
        $crate::Tree::tuple($crate::__tree!(@items $as [$($done),+] $last))
    };
    (@tuple $as:tt [$($done:expr),*] [$($value:tt)+] , $($rest:tt)*) => {
        $crate::__tree!(@tuple $as [$($done,)* $crate::__tree!(@value $as $($value)+)] [] $($rest)*)
    };
    (@tuple $as:tt $done:tt [$($value:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__tree!(@tuple $as $done [$($value)* $next] $($rest)*)
    };

    // Entries of a map: a key up to a colon, then a value up to a comma.
    (@entries $as:tt [$($done:expr),*]) => { [$($done),*] };
    (@entries $as:tt $done:tt $key:tt : $($rest:tt)+) => {
        $crate::__tree!(@entry $as $done [$key] [] $($rest)+)
    };
    (@entries $as:tt $done:tt - $key:tt : $($rest:tt)+) => {
        $crate::__tree!(@entry $as $done [-$key] [] $($rest)+)
    };
    (@entry $as:tt [$($done:expr),*] [$($key:tt)+] [$($value:tt)+] $(, $($rest:tt)*)?) => {
        $crate::__tree!(
            @entries $as
            [$($done,)* ($crate::Key::from($($key)+), $crate::__tree!(@value $as $($value)+))]
            $($($rest)*)?
        )
    };
    (@entry $as:tt $done:tt $key:tt [$($value:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__tree!(@entry $as $done $key [$($value)* $next] $($rest)*)
    };

    // Fields of a struct.
    (@fields $as:tt [$($done:expr),*]) => { [$($done),*] };
    (@fields $as:tt $done:tt $name:ident : $($rest:tt)+) => {
        $crate::__tree!(@field $as $done $name [] $($rest)+)
    };
    (@field $as:tt [$($done:expr),*] $name:ident [$($value:tt)+] $(, $($rest:tt)*)?) => {
        $crate::__tree!(
            @fields $as
            [$($done,)* (stringify!($name), $crate::__tree!(@value $as $($value)+))]
            $($($rest)*)?
        )
    };
    (@field $as:tt $done:tt $name:ident [$($value:tt)*] $next:tt $($rest:tt)*) => {
        $crate::__tree!(@field $as $done $name [$($value)* $next] $($rest)*)
    };
}

impl<L> crate::Tree<L> {
    #[doc(hidden)]
    pub fn record<const N: usize>(name: &'static str, fields: [(&'static str, Self); N]) -> Self {
        Self::structure_of(name, fields, Vec::new())
    }
}
