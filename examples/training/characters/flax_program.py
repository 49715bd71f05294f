"""The same model, text and steps in Flax's NNX: prints the loss, and the times of a step and of a generated letter."""

import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import optax
from flax import nnx

CONTEXT, WIDTH, HEADS, LAYERS, BATCH, RATE = 64, 128, 4, 2, 16, 2e-3


class Block(nnx.Module):
    def __init__(self, rngs):
        self.norm1 = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(HEADS, WIDTH, rngs=rngs, decode=False)
        self.norm2 = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.up = nnx.Linear(WIDTH, 4 * WIDTH, rngs=rngs)
        self.down = nnx.Linear(4 * WIDTH, WIDTH, rngs=rngs)

    def __call__(self, x):
        x = x + self.attention(self.norm1(x), is_causal=True)
        return x + self.down(nnx.gelu(self.up(self.norm2(x))))


class Model(nnx.Module):
    def __init__(self, letters, rngs):
        self.letters = nnx.Embed(letters, WIDTH, rngs=rngs)
        self.places = nnx.Embed(CONTEXT, WIDTH, rngs=rngs)
        self.blocks = nnx.List([Block(rngs) for _ in range(LAYERS)])
        self.norm = nnx.LayerNorm(WIDTH, rngs=rngs)
        self.out = nnx.Linear(WIDTH, letters, rngs=rngs)

    def __call__(self, ids, places):
        x = self.letters(ids) + self.places(places)
        for block in self.blocks:
            x = block(x)
        return self.out(self.norm(x))


@nnx.jit
def train_step(model, optimizer, excerpts):
    def loss_of(model):
        logits = model(excerpts[:, :-1], jnp.arange(CONTEXT))
        return optax.softmax_cross_entropy_with_integer_labels(logits, excerpts[:, 1:]).mean()

    loss, gradient = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradient)
    return loss


@nnx.jit
def next_letter(model, letter, place, key):
    logits = model(letter[None, None], place[None])[0, 0]
    return jax.random.categorical(key, logits / 0.5)


def main(steps):
    text = (Path(__file__).parents[3] / "LICENSE-APACHE").read_text()
    alphabet = sorted(set(text))
    ids = jnp.array([alphabet.index(c) for c in text], jnp.int32)
    model = Model(len(alphabet), nnx.Rngs(0))
    schedule = optax.warmup_cosine_decay_schedule(0.0, RATE, steps // 10, steps)
    rule = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule, weight_decay=1e-4))
    optimizer = nnx.Optimizer(model, rule, wrt=nnx.Param)
    times, mean = [], 0.0
    for step in range(steps):
        starts = jax.random.randint(jax.random.fold_in(jax.random.key(1), step), (BATCH, 1), 0, len(text) - CONTEXT)
        excerpts = ids[starts + jnp.arange(CONTEXT + 1)]
        start = time.perf_counter()
        loss = float(train_step(model, optimizer, excerpts))
        times.append(time.perf_counter() - start)
        mean = loss if step == 0 else 0.95 * mean + 0.05 * loss
        if (step + 1) % 50 == 0:
            print(f"{step + 1:>6}  {mean:.4f}")

    def report(name, times):
        warm = sorted(times[len(times) // 10 :])
        print(f"{name} {warm[0] * 1e3:.3f} ms at least, {warm[len(warm) // 2] * 1e3:.3f} in the median")

    for block in model.blocks:
        block.attention.set_attributes(decode=True)
        block.attention.init_cache((1, CONTEXT, WIDTH))
    letter, written, letter_times = jnp.int32(alphabet.index("T")), [], []
    for place in range(CONTEXT):
        key = jax.random.fold_in(jax.random.key(2), place)
        start = time.perf_counter()
        letter = next_letter(model, letter, jnp.int32(place), key)
        written.append(int(letter))
        letter_times.append(time.perf_counter() - start)
    print("T" + "".join(alphabet[i] for i in written))
    report("step", times)
    report("letter", letter_times)
    print(f"result {mean:.4f}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
