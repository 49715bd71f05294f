"""Writes `filter.jaxpr`: a low-pass filter of four poles with a soft limit in its feedback, on blocks of 64 samples."""

import jax
import jax.numpy as jnp

RATE = 48000.0


def block(state, samples, cutoff, resonance):
    """The next state and the filtered samples; `cutoff` is in hertz, `resonance` from 0 to 1."""
    gain = 1.0 - jnp.exp(-2.0 * jnp.pi * cutoff / RATE)

    def sample(poles, x):
        x = jnp.tanh(x - 4.0 * resonance * poles[3])
        a = poles[0] + gain * (x - poles[0])
        b = poles[1] + gain * (a - poles[1])
        c = poles[2] + gain * (b - poles[2])
        d = poles[3] + gain * (c - poles[3])
        return jnp.stack([a, b, c, d]), d

    return jax.lax.scan(sample, state, samples)


if __name__ == "__main__":
    number = jax.ShapeDtypeStruct((), jnp.float32)
    array = lambda n: jax.ShapeDtypeStruct((n,), jnp.float32)
    with open("filter.jaxpr", "w") as file:
        file.write(f"{jax.make_jaxpr(block)(array(4), array(64), number, number)}\n")
