//! Maps over trees, and structs of arrays.

use jaxide::prelude::*;
use jaxide::tree;

#[derive(Clone, Debug, Pytree)]
struct Layer {
    weight: Array,
    bias: Option<Array>,
    #[pytree(static)]
    width: usize,
}

fn layer(weight: f32, bias: f32) -> Layer {
    Layer {
        weight: Array::scalar(weight),
        bias: Some(Array::scalar(bias)),
        width: 1,
    }
}

#[test]
fn maps_take_any_number_of_trees() {
    let layers = [layer(1.0, 2.0), layer(3.0, 4.0), layer(5.0, 9.0)];
    let mean = |leaves: &[&Array]| {
        leaves
            .iter()
            .fold(Array::from(0.0), |sum, leaf| sum + *leaf)
            / leaves.len()
    };
    let average = tree::map_many(mean, &layers).unwrap();
    assert_eq!(average.weight.item::<f32>(), 3.0);
    assert_eq!(average.bias.unwrap().item::<f32>(), 5.0);

    let [a, b, c] = layers.clone();
    let sum = tree::map3(|a: &Array, b: &Array, c: &Array| a + b + c, &a, &b, &c).unwrap();
    assert_eq!(sum.weight.item::<f32>(), 9.0);

    let other = Layer {
        bias: None,
        ..layer(1.0, 1.0)
    };
    let error = tree::map_many(mean, &[layer(1.0, 1.0), layer(2.0, 2.0), other]).unwrap_err();
    assert!(error.to_string().contains("tree 2.bias"), "{error}");
    let error = tree::map_many(mean, &[] as &[Layer]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no tree whose structure the result could have"
    );
}

#[test]
fn one_tree_is_mapped_alone_and_order_is_kept() {
    let pairs = [
        (Array::from(1), Array::from(2)),
        (Array::from(10), Array::from(20)),
    ];
    let first = tree::map_many(|leaves: &[&Array]| leaves[0] - leaves[1], &pairs).unwrap();
    assert_eq!((first.0.item::<i32>(), first.1.item::<i32>()), (-9, -18));
    let one = tree::map_many(|leaves: &[&Array]| leaves[0] * 2, &pairs[..1]).unwrap();
    assert_eq!(one.1.item::<i32>(), 4);
}
