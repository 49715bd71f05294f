"""Writes files with NumPy that the tests read.

    cd crates/jaxide/tests/io && python record.py
"""

import ml_dtypes
import numpy as np

np.savez_compressed(
    "compressed.npz",
    **{
        "layers.0.weight": np.arange(6, dtype=np.float32).reshape(2, 3),
        "layers.0.bias": np.array([0.5, -0.5], ml_dtypes.bfloat16),
        "layers.1.weight": np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2)),
        "layers.1.bias": np.zeros(300, np.float64),
        "step": np.int32(7),
        "flags": np.array([True, False, True]),
    },
)
np.save("big_endian.npy", np.arange(5, dtype=">i4") - 2)
