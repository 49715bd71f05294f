"""The same network, data and steps in Flax's NNX: prints the accuracy, the final loss, and the time of a step."""

import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

TESTS, BATCH, RATE = 357, 64, 3e-3


class Cnn(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 16, (3, 3), rngs=rngs)
        self.norm1 = nnx.BatchNorm(16, rngs=rngs)
        self.conv2 = nnx.Conv(16, 32, (3, 3), rngs=rngs)
        self.norm2 = nnx.BatchNorm(32, rngs=rngs)
        self.dropout = nnx.Dropout(0.25, rngs=rngs)
        self.hidden = nnx.Linear(128, 64, rngs=rngs)
        self.out = nnx.Linear(64, 10, rngs=rngs)

    def __call__(self, images):
        x = nnx.max_pool(nnx.relu(self.norm1(self.conv1(images))), (2, 2), (2, 2))
        x = nnx.max_pool(nnx.relu(self.norm2(self.conv2(x))), (2, 2), (2, 2))
        x = self.dropout(x.reshape(x.shape[0], -1))
        return self.out(nnx.relu(self.hidden(x)))


def read():
    lines = (Path(__file__).parents[2] / "data/digits.txt").read_text().splitlines()
    shades = [[int(c, 17) / 16 for c in line[:64]] for line in lines]
    return np.array(shades, np.float32).reshape(-1, 8, 8, 1), np.array([int(line[64:]) for line in lines], np.int32)


@nnx.jit
def train_step(model, optimizer, images, labels):
    def loss_of(model):
        return optax.softmax_cross_entropy_with_integer_labels(model(images), labels).mean()

    loss, gradient = nnx.value_and_grad(loss_of)(model)
    optimizer.update(model, gradient)
    return loss


@nnx.jit
def accuracy(model, images, labels):
    return (model(images).argmax(-1) == labels).mean()


def main(epochs):
    images, labels = read()
    order = np.asarray(jax.random.permutation(jax.random.key(7), len(labels)))
    images, labels = images[order], labels[order]
    training, test = (images[TESTS:], labels[TESTS:]), (images[:TESTS], labels[:TESTS])
    steps = len(training[1]) // BATCH
    model = Cnn(nnx.Rngs(0))
    schedule = optax.warmup_cosine_decay_schedule(0.0, RATE, 2 * steps, epochs * steps)
    optimizer = nnx.Optimizer(model, optax.adamw(schedule, weight_decay=1e-4), wrt=nnx.Param)
    times = []
    for epoch in range(epochs):
        model.train()
        rows = np.asarray(jax.random.permutation(jax.random.fold_in(jax.random.key(1), epoch), len(training[1])))
        total = 0.0
        for i in range(steps):
            batch = rows[i * BATCH : (i + 1) * BATCH]
            x, y = training[0][batch], training[1][batch]
            start = time.perf_counter()
            loss = train_step(model, optimizer, x, y)
            total += float(loss)
            times.append(time.perf_counter() - start)
        model.eval()
        print(f"{epoch + 1:>5}  {total / steps:.4f}  {float(accuracy(model, *test)):.3f}")
    warm = sorted(times[len(times) // 10 :])
    print(f"step {warm[0] * 1e3:.3f} ms at least, {warm[len(warm) // 2] * 1e3:.3f} in the median")
    print(f"result {float(accuracy(model, *test)):.4f}")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
