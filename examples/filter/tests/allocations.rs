//! The filter does what it says, and allocates nothing.

use jaxide_filter::{BLOCK, Filter};

#[test]
fn a_block_allocates_nothing() {
    let (mut filter, mut samples) = (Filter::new(), [0.25; BLOCK]);
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            filter.block(&mut samples, 500.0, 0.2);
        }
    });
    assert_eq!(counted.count_total, 0);
}

/// The filter as it is written in `filter.py`.
#[test]
fn samples_are_those_of_the_recurrence() {
    let (cutoff, resonance) = (800.0f64, 0.4);
    let gain = 1.0 - (-2.0 * std::f64::consts::PI * cutoff / 48000.0).exp();
    let mut poles = [0.0f64; 4];
    let mut filter = Filter::new();
    for block in 0..10 {
        let input: [f32; BLOCK] = std::array::from_fn(|k| (0.3 * (64 * block + k) as f32).sin());
        let mut samples = input;
        filter.block(&mut samples, cutoff as f32, resonance as f32);
        for (x, y) in input.into_iter().zip(samples) {
            let mut from = (f64::from(x) - 4.0 * resonance * poles[3]).tanh();
            for pole in &mut poles {
                *pole += gain * (from - *pole);
                from = *pole;
            }
            assert!((f64::from(y) - from).abs() < 1e-5, "{y} is not {from}");
        }
    }
}
