// JAX finds out when it sorts the keys.
use std::collections::BTreeMap;

use jaxide_tree as tree;

fn main() {
    tree::leaves::<f32, _>(&BTreeMap::from([("a", 1.0f32), (2, 3.0)]));
}
