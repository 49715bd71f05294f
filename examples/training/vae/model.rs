//! A variational autoencoder of images of 64 pixels.

use jaxide::nn::{sigmoid, silu};
use jaxide::{Array, DType, random};
use jaxide_nnx::{Linear, RngStream, Rngs, module, optim::losses};

const PIXELS: usize = 64;
const HIDDEN: usize = 128;
pub(crate) const LATENT: usize = 4;

module! {
    struct Encoder(rngs: &Rngs) {
        hidden: Linear = Linear::new(PIXELS, HIDDEN, rngs, ()),
        mean: Linear = Linear::new(HIDDEN, LATENT, rngs, ()),
        log_std: Linear = Linear::new(HIDDEN, LATENT, rngs, ()),
    }

    fn call(&self, images: &Array) -> (Array, Array) {
        let x = silu(&self.hidden.call(images));
        (self.mean.call(&x), self.log_std.call(&x))
    }
}

module! {
    struct Decoder(rngs: &Rngs) {
        hidden: Linear = Linear::new(LATENT, HIDDEN, rngs, ()),
        out: Linear = Linear::new(HIDDEN, PIXELS, rngs, ()),
    }

    fn call(&self, latent: &Array) -> Array {
        self.out.call(&silu(&self.hidden.call(latent)))
    }
}

module! {
    pub(crate) struct Vae(rngs: &Rngs) {
        encoder: Encoder = Encoder::new(rngs),
        decoder: Decoder = Decoder::new(rngs),
        noise: RngStream = rngs.stream("noise").expect("a stream for noise").fork(),
    }

    /// Images `[n, 64]` drawn again, as logits; mean and logarithm of the spread of what they were drawn from, `[n, 4]`.
    fn call(&self, images: &Array) -> (Array, Array, Array) {
        let (mean, log_std) = self.encoder.call(images);
        let latent = &mean + log_std.exp() * random::normal(&self.noise.next(), mean.shape(), DType::F32);
        (self.decoder.call(&latent), mean, log_std)
    }

    /// The images that points `[n, 4]` stand for: pixels from 0 to 1.
    pub(crate) fn draw(&self, latent: &Array) -> Array {
        sigmoid(&self.decoder.call(latent))
    }

    /// How much it takes to tell an image: what is wrong in it, and how far from nothing its point is; the mean, in nats.
    pub(crate) fn loss(&self, images: &Array) -> Array {
        let (logits, mean, log_std) = self.call(images);
        let wrong = losses::sigmoid_binary_cross_entropy(&logits, images).sum_axes(-1);
        let apart = mean.square() + (&log_std * 2.0).exp() - 1.0 - 2.0 * log_std;
        (wrong + 0.5 * apart.sum_axes(-1)).mean()
    }
}
