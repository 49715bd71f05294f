//! The families of `benches/families.py` in other libraries: `peers LIBRARY FAMILY IN OUT SECONDS` runs one on the arrays of a file,
//! writes its result, and prints its least and median time as JSON; nothing where the library has no such operation.

mod by_burn;
mod by_candle;
mod by_hand;

use std::hint::black_box;
use std::io::{Read, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// An array of `f32`; complex numbers are a last axis of two.
#[derive(Clone, Debug)]
pub struct Array {
    pub shape: Vec<usize>,
    pub data: Vec<f32>,
}

/// A program with its arguments.
pub struct Program {
    run: Box<dyn Fn()>,
    result: Box<dyn Fn() -> Vec<f32>>,
}

impl Program {
    /// A program that gives `f()`, of which `flat` are the numbers.
    pub fn new<T: 'static>(
        f: impl Fn() -> T + 'static,
        flat: impl Fn(T) -> Vec<f32> + 'static,
    ) -> Program {
        let f = Rc::new(f);
        let timed = Rc::clone(&f);
        Program {
            run: Box::new(move || drop(black_box(timed()))),
            result: Box::new(move || flat(f())),
        }
    }
}

/// Gaussian error linear unit, with `tanh` as JAX has it.
pub fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + (0.797_884_6 * (x + 0.044_715 * x * x * x)).tanh())
}

/// The inverse of a matrix of two rows.
pub fn inverse2(m: [[f32; 2]; 2]) -> [[f32; 2]; 2] {
    let [[a, b], [c, d]] = m;
    let det = a * d - b * c;
    [[d / det, -b / det], [-c / det, a / det]]
}

fn read(path: &str) -> std::io::Result<Vec<Array>> {
    let mut bytes = Vec::new();
    std::fs::File::open(path)?.read_to_end(&mut bytes)?;
    let end = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .unwrap_or(bytes.len());
    let shapes: Vec<Vec<usize>> = serde_json::from_slice(&bytes[..end])?;
    let mut numbers = bytes[end + 1..]
        .chunks_exact(4)
        .map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]]));
    let arrays = shapes.into_iter().map(|shape| {
        let count = shape.iter().product();
        let data = numbers.by_ref().take(count).collect();
        Array { shape, data }
    });
    Ok(arrays.collect())
}

fn measure(program: &Program, seconds: f64) -> Value {
    (program.run)();
    let start = Instant::now();
    (program.run)();
    let once = start.elapsed().max(Duration::from_nanos(10));
    let batch = (Duration::from_micros(20).as_nanos() / once.as_nanos()).clamp(1, 1000) as u32;
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut times = Vec::new();
    while times.len() < 3 || Instant::now() < end {
        let start = Instant::now();
        for _ in 0..batch {
            (program.run)();
        }
        times.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(batch));
    }
    times.sort_by(f64::total_cmp);
    json!({ "min_us": times[0], "median_us": times[times.len() / 2] })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [library, family, input, output, seconds] = &arguments[..] else {
        return Err("usage: peers LIBRARY FAMILY IN OUT SECONDS".into());
    };
    let arrays = read(input)?;
    let program = match library.as_str() {
        "burn" => by_burn::program(family, &arrays),
        "candle" => by_candle::program(family, &arrays),
        "ndarray" => by_hand::program(family, &arrays),
        _ => return Err(format!("no library {library}").into()),
    };
    let Some(program) = program else {
        println!("{}", json!({ "missing": true }));
        return Ok(());
    };
    let bytes: Vec<u8> = (program.result)()
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect();
    std::fs::File::create(output)?.write_all(&bytes)?;
    println!("{}", measure(&program, seconds.parse()?));
    Ok(())
}
