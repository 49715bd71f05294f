//! Sweeps the filter over a sawtooth, and prints how loud it is at each cutoff, and how long a block takes.

use jaxide_filter::{BLOCK, Filter};
use std::time::Instant;

fn main() {
    println!("cutoff    level");
    for cutoff in [100.0, 300.0, 1000.0, 3000.0, 10000.0] {
        let level = level(cutoff);
        println!(
            "{cutoff:>6}    {level:.3}  {}",
            "#".repeat((level * 60.0) as usize)
        );
    }
    let (mut filter, mut samples) = (Filter::new(), [0.1; BLOCK]);
    let start = Instant::now();
    const BLOCKS: u32 = 10_000;
    for _ in 0..BLOCKS {
        filter.block(&mut samples, 1000.0, 0.5);
    }
    let time = start.elapsed() / BLOCKS;
    println!("\na block of {BLOCK} samples takes {time:?}, and lasts 1.33 ms");
}

/// The loudness of a filtered sawtooth of 220 Hz, one second of it.
fn level(cutoff: f32) -> f32 {
    let (mut filter, mut phase, mut sum) = (Filter::new(), 0.0, 0.0);
    for _ in 0..750 {
        let mut samples = [0.0; BLOCK];
        for sample in &mut samples {
            *sample = phase - 0.5;
            phase = (phase + 220.0 / 48000.0) % 1.0;
        }
        filter.block(&mut samples, cutoff, 0.3);
        sum += samples.iter().map(|sample| sample * sample).sum::<f32>();
    }
    (sum / 48000.0).sqrt()
}
