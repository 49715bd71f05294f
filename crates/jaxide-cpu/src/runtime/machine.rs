//! What the machine can do at most: operations and bytes in a second, measured.

use super::{Context, ThreadPool};
use crate::isa::Isa;
use jaxide_core::{Error, ErrorKind, Result};
use std::hint::black_box;
use std::sync::Mutex;
use std::time::Instant;

/// Limits of the machine for so many threads and vectors of an instruction set.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Operations on `f32` in a second; a fused multiplication and addition is two. Half as many on `f64`.
    pub flops: f64,
    /// Bytes in a second that a plain copy reads and writes, by how many it reads and writes in all, ascending.
    pub bandwidth: Vec<(usize, f64)>,
}

/// Bytes that are copied back and forth: what fits in the caches of a core, in those that cores share, and in none.
const LEVELS: [usize; 4] = [1 << 16, 1 << 20, 1 << 23, 1 << 28];
/// Measurements of which the best counts.
const ROUNDS: usize = 12;
/// Turns of a loop of independent operations.
const TURNS: usize = 4000;
/// Operations in a turn that do not wait for each other: as many as hide the time that one takes.
const CHAINS: usize = 12;

impl Machine {
    /// Measures for about a third of a second.
    ///
    /// # Errors
    /// When there is no memory for arrays that fit in no cache.
    pub fn measure(isa: Isa, threads: usize) -> Result<Machine> {
        let context = Context::new(ThreadPool::global(), threads);
        let isa = isa.min(Isa::detect());
        let best = |work: f64, run: &dyn Fn()| {
            run();
            let rate = |_| {
                let start = Instant::now();
                run();
                work / start.elapsed().as_secs_f64()
            };
            (0..ROUNDS).map(rate).fold(0.0, f64::max)
        };
        // More pieces than threads, so that one that starts late does less.
        let pieces = 16 * context.threads();
        let operations = (pieces * TURNS * CHAINS * 2 * lanes(isa)) as f64;
        let flops = best(operations, &|| {
            context.parallel_for(pieces, |_| {
                black_box(operate(isa, black_box(TURNS)));
            });
        });
        let bandwidth = LEVELS.into_iter().map(|bytes| {
            let half = bytes / 2;
            let from = super::PoolBuffer::zeroed(half).map_err(no_memory)?;
            let mut to = super::PoolBuffer::zeroed(half).map_err(no_memory)?;
            let piece = half / context.threads();
            let pairs: Vec<Mutex<(&[u8], &mut [u8])>> = (from.bytes().chunks_exact(piece))
                .zip(to.bytes_mut().chunks_exact_mut(piece))
                .map(Mutex::new)
                .collect();
            // Short copies are repeated, so that starting threads is not what is measured.
            let repeats = ((1 << 23) / bytes).max(1);
            let rate = best((repeats * bytes) as f64, &|| {
                context.parallel_for(pairs.len(), |k| {
                    if let Ok(mut pair) = pairs[k].lock() {
                        let (from, to) = &mut *pair;
                        for _ in 0..repeats {
                            to.copy_from_slice(black_box(from));
                            black_box(&mut **to);
                        }
                    }
                });
            });
            Ok::<_, Error>((bytes, rate))
        });
        let bandwidth = bandwidth.collect::<Result<_>>()?;
        Ok(Machine { flops, bandwidth })
    }

    /// Bytes in a second for work on so many.
    pub fn bandwidth_for(&self, bytes: usize) -> f64 {
        let level = self.bandwidth.iter().find(|(size, _)| bytes <= *size);
        level
            .or(self.bandwidth.last())
            .map_or(0.0, |&(_, rate)| rate)
    }
}

fn no_memory(error: super::OutOfMemory) -> Error {
    Error::new(ErrorKind::TooLarge, error.to_string())
}

/// Numbers in a vector.
fn lanes(isa: Isa) -> usize {
    match isa {
        Isa::Portable => 4,
        Isa::Avx2 => 8,
        Isa::Avx512 => 16,
    }
}

/// `turns` times [`CHAINS`] multiplications and additions of vectors.
#[cfg(target_arch = "x86_64")]
fn operate(isa: Isa, turns: usize) -> f32 {
    match isa {
        // SAFETY: the instruction set is one that this machine has.
        Isa::Avx512 => unsafe { x86::operate512(turns) },
        // SAFETY: as above.
        Isa::Avx2 => unsafe { x86::operate256(turns) },
        Isa::Portable if is_x86_feature_detected!("fma") => {
            // SAFETY: just asked.
            unsafe { x86::operate128(turns) }
        }
        Isa::Portable => operate_plain(turns),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn operate(_: Isa, turns: usize) -> f32 {
    operate_plain(turns)
}

fn operate_plain(turns: usize) -> f32 {
    let (factor, term) = (black_box(0.999f32), black_box(0.001f32));
    let mut sums = [[term; 4]; CHAINS];
    for _ in 0..turns {
        for sum in sums.iter_mut().flatten() {
            // Elsewhere it is an instruction, on x86 without it a function.
            *sum = if cfg!(target_arch = "x86_64") {
                *sum * factor + term
            } else {
                sum.mul_add(factor, term)
            };
        }
    }
    sums.iter().flatten().sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{CHAINS, black_box};
    use std::arch::x86_64::*;

    macro_rules! operate {
        ($name:ident, $feature:literal, $set:ident, $fma:ident, $add:ident, $first:ident) => {
            #[target_feature(enable = $feature)]
            pub(super) fn $name(turns: usize) -> f32 {
                let (factor, term) = ($set(black_box(0.999)), $set(black_box(0.001)));
                let mut sums = [term; CHAINS];
                for _ in 0..turns {
                    for sum in &mut sums {
                        *sum = $fma(*sum, factor, term);
                    }
                }
                let mut all = term;
                for sum in sums {
                    all = $add(all, sum);
                }
                $first(all)
            }
        };
    }
    operate!(
        operate128,
        "fma",
        _mm_set1_ps,
        _mm_fmadd_ps,
        _mm_add_ps,
        _mm_cvtss_f32
    );
    operate!(
        operate256,
        "avx,fma",
        _mm256_set1_ps,
        _mm256_fmadd_ps,
        _mm256_add_ps,
        _mm256_cvtss_f32
    );
    operate!(
        operate512,
        "avx512f",
        _mm512_set1_ps,
        _mm512_fmadd_ps,
        _mm512_add_ps,
        _mm512_cvtss_f32
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All instruction sets of the machine compute the same.
    #[test]
    fn operations_are_those_that_are_counted() {
        for isa in Isa::available() {
            let mut value = 0.001f32;
            for _ in 0..5 {
                value = value.mul_add(0.999, 0.001);
            }
            let all = operate(isa, 5);
            // One lane, or all of them.
            let lanes = all / (CHAINS as f32 * value);
            assert!((0.9..4.1).contains(&lanes), "{isa:?}: {all}");
        }
    }

    #[test]
    fn bandwidth_is_that_of_the_next_level() {
        let machine = Machine {
            flops: 1.0,
            bandwidth: vec![(10, 3.0), (20, 2.0), (30, 1.0)],
        };
        assert_eq!(
            [5, 10, 11, 30, 99].map(|bytes| machine.bandwidth_for(bytes)),
            [3.0, 3.0, 2.0, 1.0, 1.0]
        );
    }
}
