//! Shapes.

mod axes;
mod broadcast;
mod edit;
mod join;
mod order;
mod pad;
mod repeat;
mod reshape;
mod split;

pub use axes::*;
pub use broadcast::*;
pub use edit::*;
pub use join::*;
pub use order::*;
pub use pad::*;
pub use repeat::*;
pub use reshape::*;
pub use split::*;

pub(crate) use crate::array::normalize_axis;
pub(crate) use broadcast::common_shape as broadcast_shapes;
pub(crate) use broadcast::{check_broadcast, check_broadcast_to, common_shape};
