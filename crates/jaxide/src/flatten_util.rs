//! Trees as vectors, as in `jax.flatten_util`.

use jaxide_core::{DType, Error};
use jaxide_tree::{Pytree, TreeDef};

use crate::api::flat::{flatten, unflatten};
use crate::array::Array;
use crate::trace::raise;
use crate::{lax, numpy, tree};

/// The elements of all leaves in one vector, and the function that makes a tree of such a vector. The vector has the common element
/// type of the leaves; the function gives them theirs back.
///
/// # Panics
/// When the leaves have no common element type. The function panics when it is given another shape or element type.
///
/// ```
/// use jaxide::flatten_util::ravel_pytree;
/// use jaxide::Array;
/// let params = (Array::from([[1.0f32, 2.0]]), Array::from(3.0f32));
/// let (flat, unravel) = ravel_pytree(&params);
/// assert_eq!(flat.to_vec::<f32>(), [1.0, 2.0, 3.0]);
/// let (matrix, number) = unravel(&(flat * 2.0));
/// assert_eq!((matrix.shape(), number.item::<f32>()), (&[1, 2][..], 6.0));
/// ```
#[track_caller]
pub fn ravel_pytree<T: Pytree<Array>>(
    tree: &T,
) -> (
    Array,
    impl Fn(&Array) -> T + Clone + Send + Sync + 'static + use<T>,
) {
    let _named = crate::trace::named("ravel_pytree");
    let flat = flatten(tree);
    let dtype = match &flat.leaves[..] {
        [] => DType::F32,
        leaves => tree::common_type("ravel_pytree", leaves),
    };
    let same = flat.leaves.iter().all(|leaf| leaf.dtype() == dtype);
    let layout = Layout {
        shapes: flat
            .leaves
            .iter()
            .map(|leaf| leaf.shape().to_vec())
            .collect(),
        dtypes: flat.leaves.iter().map(Array::dtype).collect(),
        treedef: flat.treedef,
        dtype,
        same,
    };
    let vectors = flat.leaves.iter().map(|leaf| {
        let leaf = lax::convert_element_type(leaf, dtype);
        lax::reshape(&leaf, [leaf.size()])
    });
    let vectors: Vec<Array> = vectors.collect();
    let vector = match &vectors[..] {
        [] => lax::full([0], 0, dtype),
        [vector] => vector.clone(),
        vectors => numpy::concatenate(vectors, 0),
    };
    (vector, move |vector| {
        unflatten(&layout.treedef, layout.leaves(vector))
    })
}

/// Where the leaves of a tree are in a vector.
#[derive(Clone)]
struct Layout {
    treedef: TreeDef,
    shapes: Vec<Vec<usize>>,
    dtypes: Vec<DType>,
    dtype: DType,
    /// Whether all leaves have the element type of the vector: then it may have another one.
    same: bool,
}

impl Layout {
    #[track_caller]
    fn leaves(&self, vector: &Array) -> Vec<Array> {
        let sizes: Vec<usize> = self
            .shapes
            .iter()
            .map(|shape| shape.iter().product())
            .collect();
        let size: usize = sizes.iter().sum();
        if vector.shape() != [size] {
            let error = format!(
                "a vector of {size} elements is needed, and {} is given",
                vector.aval()
            );
            raise(Error::shape(error).in_operation("unravel_pytree"));
        }
        if !self.same && vector.dtype() != self.dtype {
            let error = format!(
                "a vector of {} is needed, and {} is given",
                self.dtype,
                vector.aval()
            );
            raise(Error::dtype(error).in_operation("unravel_pytree"));
        }
        if sizes.is_empty() {
            return Vec::new();
        }
        let parts = lax::split(vector, &sizes, 0).into_iter();
        let leaves = parts.zip(&self.shapes).zip(&self.dtypes);
        leaves
            .map(|((part, shape), &dtype)| {
                let leaf = lax::reshape(&part, shape);
                if self.same {
                    leaf
                } else {
                    lax::convert_element_type(&leaf, dtype)
                }
            })
            .collect()
    }
}
