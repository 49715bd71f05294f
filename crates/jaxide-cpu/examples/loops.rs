//! Prints the loop IR of a program: `cargo run --example loops -- FILE.jaxpr`.

use jaxide_core::Tensor;
use jaxide_core::jaxpr::parse::parse;
use jaxide_cpu::{CompileOptions, compile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("a file is expected")?;
    let mut jaxpr = parse(&std::fs::read_to_string(path)?)?;
    for aval in jaxpr.jaxpr.const_avals() {
        let mut bytes = vec![0u8; aval.size() * aval.dtype.size()];
        bytes
            .iter_mut()
            .enumerate()
            .for_each(|(k, byte)| *byte = (k % 5) as u8);
        jaxpr
            .consts
            .push(Tensor::from_bytes(&aval.shape, aval.dtype, &bytes)?);
    }
    let program = compile(&jaxpr, &CompileOptions::default())?;
    println!("{}\n{:?}", program.loops_text(), program.stats());
    Ok(())
}
