//! Modules in as few lines as they have parts.

/// A module with its constructor: each attribute stands with its type and its first value in one line.
///
/// It is short for a struct with `#[derive(Clone, Module)]`, a function `new` of the parameters behind the name, which sees earlier
/// attributes by their names, and methods. Marks, documentation and visibility stand where they do in structs; `new` is as visible as
/// the struct.
///
/// ```
/// use jaxide_nnx::{Dropout, Linear, Rngs, module};
/// use jaxide::{Array, DType, nn};
///
/// module! {
///     /// A network with one hidden layer.
///     pub struct Mlp(width: usize, rngs: &Rngs) {
///         hidden: Linear = Linear::new(2, width, rngs, ()),
///         dropout: Dropout = Dropout::new(0.1, rngs, ()),
///         pub out: Linear = Linear::new(width, 1, rngs, ()),
///     }
///
///     pub fn call(&self, x: &Array) -> Array {
///         self.out.call(&self.dropout.call(&nn::relu(&self.hidden.call(x))))
///     }
/// }
///
/// let model = Mlp::new(8, &Rngs::new(0));
/// assert_eq!(model.call(&Array::ones([4, 2], DType::F32)).shape(), [4, 1]);
/// ```
#[macro_export]
macro_rules! module {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident($($parameter:ident: $parameter_type:ty),* $(,)?) {
            $($(#[$attribute_meta:meta])* $attribute_vis:vis $attribute:ident: $type:ty = $first:expr),* $(,)?
        }
        $($methods:tt)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, $crate::Module)]
        $vis struct $name {
            $($(#[$attribute_meta])* $attribute_vis $attribute: $type,)*
        }

        impl $name {
            /// The module as it is at first.
            #[allow(clippy::new_without_default)]
            #[track_caller]
            $vis fn new($($parameter: $parameter_type),*) -> Self {
                $(let $attribute: $type = $first;)*
                Self { $($attribute),* }
            }

            $($methods)*
        }
    };
}
