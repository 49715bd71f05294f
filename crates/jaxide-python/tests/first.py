import jax, jax.numpy as jnp, jaxide

@jaxide.jit
def step(w, x, y):
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * gradient, loss

x = jax.random.normal(jax.random.key(0), (64, 3))
w, y = jnp.zeros(3), x @ jnp.array([1.0, 2.0, 3.0])
for _ in range(200): w, loss = step(w, x, y)
print(w, loss)
assert jnp.allclose(w, jnp.array([1.0, 2.0, 3.0]), atol=1e-2)
