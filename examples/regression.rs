//! Fitting a curve by gradient descent: parameters are a derived pytree, their gradient has the same type.
//!
//! Run with `cargo run --release --example regression`.

use jaxide::prelude::*;
use jaxide::{numpy, tree};

/// A network of one hidden layer.
#[derive(Clone, Pytree)]
struct Model {
    hidden: Linear,
    output: Linear,
}

/// An affine map; the number of units is part of the structure, not of the data.
#[derive(Clone, Pytree)]
struct Linear {
    weight: Array,
    bias: Array,
    #[pytree(static)]
    units: usize,
}

impl Linear {
    fn new(inputs: usize, units: usize) -> Self {
        // Spread evenly: a fixed start makes the run repeatable.
        let weight =
            numpy::linspace(-1.5, 1.5, inputs * units).reshape(&[inputs as i64, units as i64]);
        let bias = numpy::linspace(-1.0, 1.0, units);
        Linear {
            weight,
            bias,
            units,
        }
    }

    fn forward(&self, x: &Array) -> Array {
        x.dot(&self.weight) + &self.bias
    }
}

impl Model {
    fn forward(&self, x: &Array) -> Array {
        self.output.forward(&self.hidden.forward(x).tanh())
    }
}

fn loss(model: Model, x: Array, y: Array) -> Array {
    (model.forward(&x) - y).square().mean()
}

fn main() -> Result<()> {
    let x = numpy::linspace(-3.0, 3.0, 128).reshape(&[128, 1]);
    let y = x.sin() + &x * 0.3;
    let mut model = Model {
        hidden: Linear::new(1, 16),
        output: Linear::new(16, 1),
    };

    let step = jit(|model: Model, x: Array, y: Array| {
        let (loss, gradient) = value_and_grad(loss)(model.clone(), x, y);
        let next = tree::map2(|p: &Array, g: &Array| p - 0.05 * g, &model, &gradient);
        (
            loss,
            next.expect("a gradient has the structure of the model"),
        )
    });

    println!(
        "{} hidden units; parameters: {}\n",
        model.hidden.units,
        tree::structure::<Array, _>(&model)
    );
    for iteration in 0..=2000 {
        let (loss, next) = step.try_call((model, x.clone(), y.clone()))?;
        model = next;
        if iteration % 250 == 0 {
            let loss = loss.item::<f32>();
            println!("step {iteration:>5}   loss {loss:.6}   {}", bar(loss));
        }
    }

    println!("\n{:>7} {:>9} {:>9}", "x", "wanted", "fitted");
    let fitted = model.forward(&x);
    for row in (0..128).step_by(16) {
        let at = |array: &Array| array.to_vec::<f32>()[row];
        println!("{:>7.2} {:>9.4} {:>9.4}", at(&x), at(&y), at(&fitted));
    }
    Ok(())
}

/// A bar whose length is the logarithm of the loss.
fn bar(loss: f32) -> String {
    "#".repeat(((loss.log10() + 5.0).max(0.0) * 8.0) as usize)
}
