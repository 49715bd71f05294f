"""`scipy.signal`, and solvers by iteration of `scipy.sparse.linalg`."""

import jax.numpy as jnp
import jax.scipy.signal as sig
import jax.scipy.sparse.linalg as sp

from common import Arg


def f32(*shape, values="~1"):
    return Arg("f32", shape, values)


def renamed(f):
    names = {"how": "mode", "trend": "type"}
    none = {"none": None}
    return lambda *args, **kw: f(*args, **{
        names.get(key, key): none.get(value, value) if isinstance(value, str) else value for key, value in kw.items()})


def values(f):
    """Windows given as numbers are the last argument."""
    return lambda *args, **kw: f(*args[:-1], window=args[-1], **kw)


def solver(f):
    def solve(a, b, tree=False, m=False, info=False, **kw):
        if m:
            kw["M"] = (lambda x: {"x": x["x"] / jnp.diag(a)}) if tree else lambda x: x / jnp.diag(a)
        if tree:
            return f(lambda x: {"x": a @ x["x"]}, {"x": b}, **kw)[0]
        x, more = f(lambda x: a @ x, b, **kw)
        return (x, more) if info else x
    return solve


FUNCTIONS = {f"scipy.signal.{name}": renamed(getattr(sig, name)) for name in (
    "convolve", "convolve2d", "correlate", "correlate2d", "fftconvolve", "detrend", "stft", "istft", "welch", "csd")}
FUNCTIONS |= {f"scipy.signal.{name}_by": values(renamed(getattr(sig, name))) for name in ("stft", "istft", "welch")}
FUNCTIONS |= {f"scipy.sparse.linalg.{name}": solver(getattr(sp, name)) for name in ("cg", "gmres", "bicgstab")}
FUNCTIONS["scipy.signal.there_and_back"] = lambda x, nperseg: sig.istft(sig.stft(x, nperseg=nperseg)[2], nperseg=nperseg)


def cases(r):
    s = "scipy.signal."
    for name in ("convolve", "correlate"):
        for how in ("full", "same", "valid"):
            r.all_modes(s + name, f32(5), f32(3, values="~2"), how=how)
            r.all_modes(s + name, f32(2), f32(4, values="~2"), how=how)
            r.case(s + name, f32(3, 3), f32(2, 2), how=how)
            r.case(s + name, Arg("c64", (3,), "~1"), Arg("c64", (2,), "~2"), how=how)
            r.case(s + name, f32(5), f32(3), how=how, method="fft")
        r.case(s + name, Arg("i32", (3,), "~1"), Arg("i32", (2,), "~2"))
        r.case(s + name, f32(0), f32(2))
        r.case(s + name, f32(3), f32(2, 2))
        r.case(s + name, f32(3, 2), f32(2, 3))
        r.case(s + name, f32(3), f32(2), how="other")
    for name in ("convolve2d", "correlate2d"):
        for how in ("full", "same", "valid"):
            r.all_modes(s + name, f32(3, 3), f32(2, 2, values="~2"), how=how)
            r.case(s + name, f32(2, 2), f32(3, 3, values="~2"), how=how)
            r.case(s + name, Arg("c64", (3, 3), "~1"), Arg("c64", (2, 2), "~2"), how=how)
        r.case(s + name, f32(3), f32(2))
    for how in ("full", "same", "valid"):
        r.all_modes(s + "fftconvolve", f32(5), f32(3, values="~2"), how=how)
        r.case(s + "fftconvolve", f32(2, 4), f32(2, 2), how=how, axes=(1,))
        r.case(s + "fftconvolve", Arg("c64", (4,), "~1"), Arg("c64", (2,), "~2"), how=how)
    r.case(s + "fftconvolve", f32(3, 3), f32(2, 2))
    r.case(s + "fftconvolve", f32(3, 1), f32(1, 2))
    r.case(s + "fftconvolve", f32(3), f32(2, 2))
    r.case(s + "fftconvolve", f32(3, 4), f32(2, 2), axes=(1,))
    r.all_modes(s + "detrend", f32(5), trend="constant")
    r.all_modes(s + "detrend", f32(5))
    r.case(s + "detrend", f32(6, 2), axis=0)
    r.case(s + "detrend", f32(6), bp=3)
    r.case(s + "detrend", Arg("i32", (4,), "~1"))
    r.case(s + "detrend", f32(4), bp=7)
    r.case(s + "detrend", f32(4), trend="other")
    r.all_modes(s + "stft", f32(8), nperseg=4)
    r.case(s + "stft", f32(2, 9), nperseg=4, noverlap=1)
    r.case(s + "stft", f32(9, 2), nperseg=4, axis=0, fs=10.0)
    r.case(s + "stft", Arg("c64", (8,), "~1"), nperseg=4)
    r.case(s + "stft", f32(8), nperseg=4, nfft=6, return_onesided=False)
    r.case(s + "stft", f32(9), nperseg=4, padded=False)
    for boundary in ("even", "odd", "constant", "none"):
        r.case(s + "stft", f32(8), nperseg=4, boundary=boundary)
    r.case(s + "stft", f32(8), nperseg=4, detrend="linear")
    r.case(s + "stft_by", f32(8), f32(4, values="~+3"), nperseg=4)
    r.case(s + "stft", f32(8), nperseg=4, noverlap=4)
    r.case(s + "stft", f32(8), nperseg=4, nfft=3)
    r.case(s + "stft", f32(0), nperseg=4)
    r.all_modes(s + "istft", Arg("c64", (3, 5), "~1"), grad=False)
    r.all_modes(s + "there_and_back", f32(8), nperseg=4)
    r.case(s + "istft", Arg("c64", (3, 5), "~1"), boundary=False, noverlap=1)
    r.case(s + "istft", Arg("c64", (4, 5), "~1"), input_onesided=False)
    r.case(s + "istft", Arg("c64", (5, 2, 3), "~1"), time_axis=0, freq_axis=2)
    r.case(s + "istft_by", Arg("c64", (3, 5), "~1"), f32(4, values="~+3"))
    r.case(s + "istft", Arg("c64", (3,), "~1"))
    r.case(s + "istft", Arg("c64", (3, 5), "~1"), time_axis=0, freq_axis=0)
    r.all_modes(s + "welch", f32(8), nperseg=4)
    r.case(s + "welch", f32(2, 10), nperseg=4, scaling="spectrum", average="median")
    r.case(s + "welch", f32(10), nperseg=5, detrend="linear")
    r.case(s + "welch", Arg("c64", (8,), "~1"), nperseg=4)
    r.case(s + "welch", f32(6))
    r.case(s + "welch", f32(10, 2), nperseg=4, axis=0)
    r.case(s + "welch_by", f32(8), f32(4, values="~+3"))
    r.all_modes(s + "csd", f32(8), f32(8, values="~2"), nperseg=4, grad=False)
    r.case(s + "csd", f32(8), f32(6, values="~2"), nperseg=4)
    r.case(s + "csd", f32(2, 10), f32(2, 10, values="~2"), nperseg=4, average="median", fs=2.0)
    r.case(s + "csd", f32(8), f32(2, 8), nperseg=4)
    l = "scipy.sparse.linalg."
    for name in ("cg", "gmres", "bicgstab"):
        r.all_modes(l + name, Arg("f32", (3, 3), "~s1"), f32(3, values="~2"))
        r.all_modes(l + name, Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), tree=True)
        r.case(l + name, Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), m=True)
        r.case(l + name, Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), m=True, tree=True)
        r.case(l + name, Arg("c64", (3, 3), "~s1"), Arg("c64", (3,), "~2"))
        r.case(l + name, Arg("f64", (3, 3), "~s1"), Arg("f64", (3,), "~2"), tol=1e-10)
        r.case(l + name, Arg("f32", (4, 4), "~s1"), f32(4, values="~2"), maxiter=1)
        r.case(l + name, Arg("f32", (2, 3), "~1"), f32(3))
    r.case(l + "gmres", Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), info=True)
    r.case(l + "gmres", Arg("f32", (4, 4), "~1"), f32(4, values="~2"), restart=2, maxiter=2)
    step = {"solve_method": "incremental"}
    r.all_modes(l + "gmres", Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), **step)
    r.case(l + "gmres", Arg("f32", (3, 3), "~s1"), f32(3, values="~2"), tree=True, m=True, **step)
    r.case(l + "gmres", Arg("f64", (3, 3), "~s1"), Arg("f64", (3,), "~2"), tol=1e-10, **step)
    r.case(l + "gmres", Arg("f32", (4, 4), "~1"), f32(4, values="~2"), restart=2, maxiter=2, **step)
    r.case(l + "gmres", Arg("f32", (3, 3), [4, 1, 0, -1, 3, 1, 0, 2, 5]), f32(3, values="~2"), **step)
    r.case(l + "bicgstab", Arg("f32", (3, 3), [4, 1, 0, -1, 3, 1, 0, 2, 5]), f32(3, values="~2"))
    r.case(l + "gmres", Arg("f32", (3, 3), [4, 1, 0, -1, 3, 1, 0, 2, 5]), f32(3, values="~2"))
