"""The same autoencoder, data and steps in Flax's NNX: prints the loss of test images and the time of a step."""

import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

PIXELS, HIDDEN, LATENT, TESTS, BATCH, RATE = 64, 128, 4, 357, 64, 2e-3


class Encoder(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(PIXELS, HIDDEN, rngs=rngs)
        self.mean = nnx.Linear(HIDDEN, LATENT, rngs=rngs)
        self.log_std = nnx.Linear(HIDDEN, LATENT, rngs=rngs)

    def __call__(self, images):
        x = nnx.silu(self.hidden(images))
        return self.mean(x), self.log_std(x)


class Decoder(nnx.Module):
    def __init__(self, rngs):
        self.hidden = nnx.Linear(LATENT, HIDDEN, rngs=rngs)
        self.out = nnx.Linear(HIDDEN, PIXELS, rngs=rngs)

    def __call__(self, latent):
        return self.out(nnx.silu(self.hidden(latent)))


class Vae(nnx.Module):
    def __init__(self, rngs):
        self.encoder = Encoder(rngs)
        self.decoder = Decoder(rngs)
        self.noise = rngs.noise.fork()

    def __call__(self, images):
        mean, log_std = self.encoder(images)
        latent = mean + jnp.exp(log_std) * jax.random.normal(self.noise(), mean.shape)
        return self.decoder(latent), mean, log_std


def loss_of(model, images):
    logits, mean, log_std = model(images)
    wrong = optax.sigmoid_binary_cross_entropy(logits, images).sum(-1)
    apart = 0.5 * (mean**2 + jnp.exp(2 * log_std) - 1 - 2 * log_std).sum(-1)
    return (wrong + apart).mean()


@nnx.jit
def train_step(model, optimizer, images):
    loss, gradient = nnx.value_and_grad(loss_of)(model, images)
    optimizer.update(model, gradient)
    return loss


def main(epochs):
    lines = (Path(__file__).parents[2] / "data/digits.txt").read_text().splitlines()
    images = np.array([[int(c, 17) / 16 for c in line[:PIXELS]] for line in lines], np.float32)
    images = images[np.asarray(jax.random.permutation(jax.random.key(7), len(images)))]
    training, test = images[TESTS:], images[:TESTS]
    model = Vae(nnx.Rngs(0, noise=1))
    optimizer = nnx.Optimizer(model, optax.adam(RATE), wrt=nnx.Param)
    judge = nnx.jit(loss_of)
    times = []
    for epoch in range(epochs):
        rows = np.asarray(jax.random.permutation(jax.random.fold_in(jax.random.key(1), epoch), len(training)))
        total, steps = 0.0, len(training) // BATCH
        for i in range(steps):
            batch = training[rows[i * BATCH : (i + 1) * BATCH]]
            start = time.perf_counter()
            total += float(train_step(model, optimizer, batch))
            times.append(time.perf_counter() - start)
        if (epoch + 1) % 5 == 0:
            print(f"{epoch + 1:>5}  {total / steps:.3f}")
    warm = sorted(times[len(times) // 10 :])
    print(f"step {warm[0] * 1e3:.3f} ms at least, {warm[len(warm) // 2] * 1e3:.3f} in the median")
    print(f"result {float(judge(model, test)):.4f}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)
