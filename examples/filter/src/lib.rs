//! A low-pass filter of four poles, as synthesisers have them: written with JAX, compiled by the build script, and called from the
//! callback of an audio driver, which may neither wait nor allocate.

jaxide_build::include_program!("filter");

/// Samples of a block.
pub const BLOCK: usize = 64;

/// The filter with its state.
pub struct Filter {
    poles: [f32; 4],
    scratch: filter::Scratch,
}

impl Filter {
    /// At rest.
    pub const fn new() -> Self {
        Filter {
            poles: [0.0; 4],
            scratch: filter::Scratch::new(),
        }
    }

    /// Filters a block of samples at 48 kHz. The cutoff is in hertz; a resonance of 1 whistles.
    pub fn block(&mut self, samples: &mut [f32; BLOCK], cutoff: f32, resonance: f32) {
        let (poles, input) = (self.poles, *samples);
        filter::run(
            &poles,
            &input,
            cutoff,
            resonance,
            &mut self.poles,
            samples,
            &mut self.scratch,
        );
    }
}

impl Default for Filter {
    fn default() -> Self {
        Filter::new()
    }
}
