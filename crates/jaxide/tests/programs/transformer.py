"""`transformer.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, nn, random

from adam import Adam

RATE = 1e-3


class Norm(NamedTuple):
    scale: jax.Array
    offset: jax.Array


class Block(NamedTuple):
    attention_norm: Norm
    qkv: jax.Array
    merge: jax.Array
    mlp_norm: Norm
    up: jax.Array
    down: jax.Array


class Model(NamedTuple):
    tokens: jax.Array
    positions: jax.Array
    blocks: list
    norm: Norm


class State(NamedTuple):
    model: Model
    optimizer: Adam


def new_norm(width):
    return Norm(jnp.ones(width), jnp.zeros(width))


def new_block(key, width):
    qkv, merge, up, down = random.split(key, 4)
    weight = lambda key, rows, columns: random.normal(key, (rows, columns)) * 0.02
    return Block(
        new_norm(width),
        weight(qkv, width, 3 * width),
        weight(merge, width, width),
        new_norm(width),
        weight(up, width, 4 * width),
        weight(down, 4 * width, width),
    )


def new_model(key, vocabulary, context, width, layers):
    tokens, positions, blocks = random.split(key, 3)
    table = lambda key, rows: random.normal(key, (rows, width)) * 0.02
    return Model(
        table(tokens, vocabulary),
        table(positions, context),
        [new_block(key, width) for key in random.split(blocks, layers)],
        new_norm(width),
    )


def normalise(norm, x):
    centered = x - x.mean(-1, keepdims=True)
    variance = jnp.square(centered).mean(-1, keepdims=True)
    return centered * lax.rsqrt(variance + 1e-5) * norm.scale + norm.offset


def attention(block, x, heads):
    batch, context, width = x.shape
    by_head = lambda x: x.reshape(batch, context, heads, width // heads).transpose(0, 2, 1, 3)
    queries, keys, values = (by_head(part) for part in jnp.split(x @ block.qkv, 3, axis=2))
    scores = queries @ keys.transpose(0, 1, 3, 2) * (1 / (width // heads) ** 0.5)
    visible = jnp.arange(context)[:, None] >= jnp.arange(context)
    weights = nn.softmax(jnp.where(visible, scores, -1e9))
    mixed = (weights @ values).transpose(0, 2, 1, 3)
    return mixed.reshape(batch, context, width) @ block.merge


def forward(model, ids, heads):
    x = model.tokens[ids] + model.positions
    for block in model.blocks:
        x = x + attention(block, normalise(block.attention_norm, x), heads)
        x = x + nn.gelu(normalise(block.mlp_norm, x) @ block.up) @ block.down
    return normalise(model.norm, x) @ model.tokens.T


def loss(model, text, heads):
    log_probabilities = nn.log_softmax(forward(model, text[:, :-1], heads))
    right = nn.one_hot(text[:, 1:], model.tokens.shape[0])
    return -(log_probabilities * right).sum(-1).mean()


def train(state, batches, heads):
    losses = []
    for text in batches:
        value, gradient = jax.value_and_grad(loss)(state.model, text, heads)
        state = State(*state.optimizer.update(state.model, gradient, RATE))
        losses.append(value)
    return state, jnp.stack(losses)


def prepare(real):
    vocabulary, context, width, heads, layers = (256, 64, 128, 4, 2) if real else (11, 5, 8, 2, 2)
    steps, batch = (1, 16) if real else (3, 2)
    for_model, for_texts = random.split(random.key(0))
    model = new_model(for_model, vocabulary, context, width, layers)
    texts = random.randint(for_texts, (steps, batch, context + 1), 0, vocabulary)
    return lambda state, texts: train(state, texts, heads), (State(model, Adam.new(model)), texts)
