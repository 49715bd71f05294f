"""Images of other sizes."""

import jax
from common import Arg

METHODS = jax.image.ResizeMethod
FUNCTIONS = {
    "image.resize": lambda x, method, **other: jax.image.resize(x, method=METHODS[method], **other),
    "image.scale_and_translate": lambda x, s, t, method, spatial_dims, **other: jax.image.scale_and_translate(
        x, spatial_dims=spatial_dims if isinstance(spatial_dims, tuple) else (spatial_dims,), scale=s, translation=t,
        method=METHODS[method], **other),
}
NAMES = ["LINEAR", "LANCZOS3", "LANCZOS5", "CUBIC", "CUBIC_PYTORCH", "AREA"]


def cases(r):
    x = Arg("f32", (4, 3), "~5")
    for method in ["NEAREST"] + NAMES:
        r.all_modes("image.resize", x, shape=(2, 5), method=method)
        r.case("image.resize", x, shape=(4, 6), method=method, antialias=False)
        r.case("image.resize", x, shape=(2, 3), method=method, antialias=False)
        r.case("image.resize", Arg("i32", (3,), "~5"), shape=(5,), method=method)
        r.case("image.resize", Arg("f16", (3,), "~5"), shape=(5,), method=method)
        r.case("image.resize", x, shape=(4, 3), method=method)
    r.case("image.resize", Arg("f32", (2, 3, 2), "~5"), shape=(2, 6, 3), method="LINEAR")
    r.case("image.resize", Arg("f64", (3,), "~5"), shape=(5,), method="LINEAR")
    r.case("image.resize", Arg("f32", (2, 5, 3), "~5"), shape=(3, 2, 6), method="CUBIC")
    r.case("image.resize", Arg("f16", (2, 3, 2, 3), "~5"), shape=(2, 5, 4, 3), method="LANCZOS3")
    r.case("image.resize", Arg("f32", (1, 7), "~5"), shape=(3, 8), method="LINEAR")
    r.case("image.resize", x, shape=(2, 5, 1), method="LINEAR")
    r.case("image.resize", x, shape=(0, 5), method="LINEAR")
    for method in NAMES[:4] + ["AREA"]:
        r.all_modes("image.scale_and_translate", x, Arg("f32", (2,), [0.5, 2.0]), Arg("f32", (2,), [0.25, -1.0]), shape=(3, 5),
                    spatial_dims=(0, 1), method=method)
        r.case("image.scale_and_translate", x, Arg("f32", (1,), [0.5]), Arg("f32", (1,), [0.5]), shape=(4, 5), spatial_dims=1,
               method=method, antialias=False)
    r.case("image.scale_and_translate", x, Arg("f32", (1,), [0.5]), Arg("f32", (1,), [0.5]), shape=(4, 5), spatial_dims=1,
           method="NEAREST")
    r.case("image.scale_and_translate", x, Arg("f32", (1,), [0.5]), Arg("f32", (1,), [0.5]), shape=(4,), spatial_dims=1,
           method="LINEAR")
