"""Fourier transforms: `numpy.fft` and `scipy.fft`."""

import jax.numpy as jnp

from common import Arg

FUNCTIONS = {}


def real(*shape):
    return Arg("f32", shape, "~1")


def complex(*shape):
    return Arg("c64", shape, "~1")


def cases(r):
    n = "numpy.fft."
    for name in ("fft", "ifft", "irfft", "hfft"):
        r.all_modes(n + name, complex(5))
        r.case(n + name, complex(2, 4), axis=0)
        for norm in ("backward", "ortho", "forward"):
            r.case(n + name, complex(4), norm=norm)
        r.case(n + name, complex(4), n=3)
        r.case(n + name, complex(4), n=7)
        r.all_modes(n + name, real(4))
        r.case(n + name, Arg("i32", (4,), "~1"))
        r.case(n + name, Arg("c128", (4,), "~1"))
        r.case(n + name, complex(4), n=0)
        r.case(n + name, complex(4), axis=1)
    for name in ("rfft", "ihfft"):
        r.all_modes(n + name, real(5))
        r.all_modes(n + name, real(2, 4), axis=0)
        for norm in ("backward", "ortho", "forward"):
            r.case(n + name, real(4), norm=norm)
        r.case(n + name, real(4), n=3)
        r.case(n + name, real(4), n=7)
        r.case(n + name, Arg("i32", (4,), "~1"))
        r.case(n + name, Arg("f64", (4,), "~1"))
        r.case(n + name, complex(4))
    for name in ("fft2", "ifft2", "irfft2", "fftn", "ifftn", "irfftn"):
        r.all_modes(n + name, complex(2, 3))
        r.case(n + name, complex(2, 3, 2), axes=(0, 1), norm="ortho")
        r.case(n + name, complex(2, 3), s=(3, 2))
        r.all_modes(n + name, real(2, 4))
        r.case(n + name, complex(3), axes=(0, 1))
    for name in ("rfft2", "rfftn"):
        r.all_modes(n + name, real(2, 3))
        r.case(n + name, real(2, 3, 2), axes=(1, 0), norm="forward")
        r.case(n + name, real(2, 3), s=(3, 2))
        r.case(n + name, complex(2, 3))
    for name in ("fftn", "ifftn", "irfftn"):
        r.case(n + name, complex(2, 2, 2, 3))
        r.case(n + name, complex(2, 2, 1, 2, 3))
        r.case(n + name, complex(2, 3), axes=(0, 0))
        r.case(n + name, complex(2, 3), s=(2,), axes=(0, 1))
    r.all_modes(n + "rfftn", real(2, 2, 2, 2))
    for name in ("fftshift", "ifftshift"):
        r.all_modes(n + name, real(5))
        r.all_modes(n + name, real(2, 3))
        r.case(n + name, Arg("i32", (2, 3), "~1"), axes=1)
        r.case(n + name, real(2, 3, 2), axes=(0, 2))
        r.case(n + name, real(0, 3))
        r.case(n + name, real(3), axes=1)
    for count in (1, 4, 5):
        for name in ("fftfreq", "rfftfreq"):
            r.case(n + name, n=count)
            r.case(n + name, n=count, d=0.25)
            r.case(n + name, n=count, dtype="f64")
    s = "scipy.fft."
    for name in ("dct", "idct"):
        r.all_modes(s + name, real(5))
        r.all_modes(s + name, real(4), norm="ortho")
        r.all_modes(s + name, real(2, 3), axis=0, n=4)
        r.case(s + name, real(5), n=3)
        r.case(s + name, complex(3))
        r.case(s + name, Arg("i32", (3,), "~1"))
        r.case(s + name, Arg("f64", (4,), "~1"))
        r.case(s + name, real(1))
        r.case(s + name, real(4), norm="forward")
        r.case(s + name, real(4), axis=1)
    for name in ("dctn", "idctn"):
        r.all_modes(s + name, real(3, 4))
        r.all_modes(s + name, real(2, 3), norm="ortho")
        r.case(s + name, real(2, 3, 2))
        r.case(s + name, real(2, 3), s=(3, 3))
        r.case(s + name, real(2, 3, 2), axes=(0, 2))
        r.case(s + name, real(2, 3), axes=(1,))
        r.case(s + name, complex(2, 2))
        r.case(s + name, real(2, 3), s=(1, 2, 3))
