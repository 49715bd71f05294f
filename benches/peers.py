"""Writes `docs/performance.md` and its chart: the families of `families.py` in JAX, jaxide, candle, burn, and by hand with ndarray, faer and rustfft.

    python benches/peers.py [FAMILY ...] [--sizes 16,128,512] [--limit SECONDS] [--save FILE]
    python benches/peers.py --report FILE ...            # write the page from what was saved

It builds `benches/peers`, a crate of its own outside the workspace, and measures all in turns, on the same arrays; results are compared with JAX's. The
python that runs this must have JAX. Times are least times in microseconds.
"""

import argparse
import datetime
import json
import pathlib
import platform
import subprocess
import tomllib

import alternate
import chart
import families

HERE = pathlib.Path(__file__).parent
DOCS = HERE.parent / "docs"
LIBRARIES = ("burn", "candle", "ndarray")
SHOWN = {"ours": "jaxide", "jax": "JAX", "burn": "burn", "candle": "candle", "ndarray": "by hand"}
# Differences from JAX's results up to which a library has computed the same, relative to the largest element.
TOLERANCE = 2e-2


def build():
    subprocess.run(["cargo", "build", "--release", "--manifest-path", HERE / "peers" / "Cargo.toml"], check=True)
    return HERE / "peers" / "target" / "release" / "peers"


def flat(array):
    """The numbers of an array as `f32`; complex ones are pairs."""
    import numpy as np

    array = np.ascontiguousarray(array)
    if array.dtype.kind == "c":
        array = array.view(np.float32).reshape(*array.shape, 2)
    return array.astype(np.float32)


def peer(program, library, family, folder, want, seconds):
    """Least time of a library; None where it has no such operation."""
    import numpy as np

    command = [program, library, family, f"{folder}/in.bin", f"{folder}/out.bin", str(seconds)]
    row = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    if "missing" in row:
        return None
    got = np.fromfile(f"{folder}/out.bin", np.float32)
    scale = max(1.0, float(np.abs(want).max(initial=0.0)))
    if got.size != want.size or not np.allclose(got, want.ravel(), rtol=0, atol=TOLERANCE * scale):
        raise SystemExit(f"{library} computes another {family}: {got[:4]} for {want.ravel()[:4]}")
    return row["min_us"]


def run(options):
    program = build()
    rows = []
    with alternate.Alternation(options) as alternation:
        import jax
        import jax.numpy as jnp
        import numpy as np

        for name in options.families or families.FAMILIES:
            for size in options.sizes:
                if alternation.is_over():
                    return rows
                function, inputs, _ = families.FAMILIES[name](size)
                arrays = [flat(x) for x in inputs]
                with open(f"{alternation.folder}/in.bin", "wb") as file:
                    file.write(json.dumps([x.shape for x in arrays]).encode() + b"\n" + b"".join(x.tobytes() for x in arrays))
                args = [jnp.asarray(x) for x in inputs]
                # Of several results the first: it is what the others compute.
                first = lambda *xs, function=function: jax.tree.leaves(function(*xs))[0]
                want = flat(np.asarray(jax.jit(first)(*args)))
                row = {"family": name, "size": size}
                for _ in range(options.rounds):
                    measured = alternation.measure(first, args, compare=False)
                    if "mistake" in measured:
                        raise SystemExit(f"{name} {size}: {measured['mistake']}")
                    times = {"jax": measured["jax"], "ours": measured["ours"]}
                    times |= {library: peer(program, library, name, alternation.folder, want, options.seconds) for library in LIBRARIES}
                    for key, time in times.items():
                        row[key] = time if time is None else min(time, row.get(key, time))
                rows.append(row | about(options.jaxide, alternation.count))
                print(rows[-1], flush=True)
                if options.save:
                    with options.save.open("a") as file:
                        file.write(json.dumps(rows[-1]) + "\n")
    return rows


def about(jaxide, threads):
    """Date, machine and versions."""
    import jax

    lock = tomllib.loads((HERE / "peers" / "Cargo.lock").read_text())
    versions = {p["name"]: p["version"] for p in lock["package"] if p["name"] in ("burn", "candle-core", "faer", "ndarray", "rustfft")}
    cpu = platform.processor() or platform.machine()
    flags = ""
    if pathlib.Path("/proc/cpuinfo").exists():
        lines = dict(line.split(":", 1) for line in pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if ":" in line)
        lines = {key.strip(): value.strip() for key, value in lines.items()}
        cpu, flags = lines.get("model name", cpu), lines.get("flags", "")
    vectors = next((name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags.split()), "other vectors")
    rustc = subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    own = subprocess.run([jaxide, "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    return {
        "date": datetime.date.today().isoformat(),
        "machine": f"{cpu}, {vectors}, {threads} threads",
        "versions": {"jaxide": own, "jax": jax.__version__, "rustc": rustc} | versions,
    }


def page(rows):
    last = rows[-1]
    versions = ", ".join(f"{name} {version}" for name, version in last["versions"].items())
    lines = [
        "# Performance beside others",
        "",
        "The same programs in JAX, jaxide, candle, burn (its backend `flex`), and written by hand with ndarray, faer and rustfft; `benches/peers` has the",
        "latter. All were measured in turns, on the same arrays of `f32`, and gave JAX's results. This page is written by",
        "",
        "```sh",
        "python benches/peers.py",
        "```",
        "",
        f"* Date: {last['date']}",
        f"* Machine: {last['machine']}",
        f"* Versions: {versions}",
        "",
        "![Times by size](performance.svg)",
        "",
        "Least time of a call in microseconds; – where a library has no such operation, the shortest in bold. What the sizes mean is in",
        "`benches/families.py`.",
        "",
        "| program | size | " + " | ".join(SHOWN.values()) + " |",
        "|---|---|" + "---|" * len(SHOWN),
    ]
    for row in rows:
        least = min(row[key] for key in SHOWN if row[key] is not None)
        cells = ["–" if row[key] is None else f"**{row[key]:.2f}**" if row[key] == least else f"{row[key]:.2f}" for key in SHOWN]
        lines.append(f"| {row['family'].replace('_', ' ')} | {row['size']} | " + " | ".join(cells) + " |")
    lines += ["", "Time of the others over that of jaxide, geometric means over the programs that they have:", ""]
    lines += ["| " + " | ".join(SHOWN[key] for key in SHOWN if key != "ours") + " |", "|" + "---|" * (len(SHOWN) - 1)]
    means = [alternate.geometric_mean([row[key] / row["ours"] for row in rows if row[key] is not None]) for key in SHOWN if key != "ours"]
    lines += ["| " + " | ".join(f"{mean:.1f}" for mean in means) + " |", ""]
    return "\n".join(lines)


def picture(rows):
    panels = []
    for name in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == name]
        series = {SHOWN[key]: [(row["size"], row[key]) for row in own if row[key] is not None] for key in SHOWN}
        panels.append((name.replace("_", " "), series, []))
    return chart.svg("Times by size", f"microseconds over the size; {rows[-1]['machine']}, {rows[-1]['date']}", panels, list(SHOWN.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", choices=[[], *families.FAMILIES])
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=(4, 16, 64, 256))
    parser.add_argument("--report", type=pathlib.Path, nargs="+", help="only write the page, from what was saved")
    alternate.arguments(parser)
    options = parser.parse_intermixed_args()
    if options.report:
        saved = [json.loads(line) for path in options.report for line in path.read_text().splitlines()]
        rows = list({(row["family"], row["size"]): row for row in saved}.values())
    else:
        rows = run(options)
    rows.sort(key=lambda row: (list(families.FAMILIES).index(row["family"]), row["size"]))
    (DOCS / "performance.md").write_text(page(rows))
    (DOCS / "performance.svg").write_text(picture(rows))


if __name__ == "__main__":
    main()
