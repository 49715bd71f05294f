"""`conjugate_gradients.rs` in JAX."""

import jax.numpy as jnp
from jax import lax


def conjugate_gradients(map, b, tolerance, most):
    def solve(map, b):
        least = tolerance * tolerance * jnp.square(b).sum()

        def unfinished(carry):
            _, _, _, squared, count = carry
            return (squared > least) & (count < most)

        def improve(carry):
            x, residual, direction, squared, count = carry
            image = map(direction)
            length = squared / (direction * image).sum()
            x = x + length * direction
            residual = residual - length * image
            following = jnp.square(residual).sum()
            direction = residual + (following / squared) * direction
            return x, residual, direction, following, count + 1

        return lax.while_loop(unfinished, improve, (b * 0, b, b, jnp.square(b).sum(), 0))[0]

    return lax.custom_linear_solve(map, b, solve, symmetric=True)
