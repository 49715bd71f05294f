"""Records the cases of this folder's areas from JAX: see `common.py`."""

import importlib
import os
import sys

import common

HERE = os.path.dirname(os.path.abspath(__file__))
AREAS = sorted(name[:-3] for name in os.listdir(HERE) if name.endswith(".py") and name not in ("common.py", "mistakes.py", "names.py", "record.py"))

# Areas whose functions are recorded with further element types.
SWEPT = ("arrays", "elementwise", "fft", "image", "indexing", "lax", "linalg", "nn", "reductions", "scipy_linalg", "sequences", "shapes",
         "signals", "special")


def main():
    words = sys.argv[1:]
    show = None
    if "--show" in words:
        at = words.index("--show")
        show = words[at + 1]
        words = words[:at]
    for name in words or AREAS:
        area = importlib.import_module(name)
        recorder = common.Recorder(area.FUNCTIONS, show)
        area.cases(recorder)
        if name in SWEPT:
            recorder.sweep()
        if show is not None:
            continue
        seen = set()
        for line in recorder.lines:
            assert line not in seen, f"twice: {line}"
            seen.add(line)
        with open(os.path.join(HERE, "..", "cases", f"{name}.txt"), "w") as file:
            file.write("\n".join(recorder.lines) + "\n")
        print(name, len(recorder.lines), flush=True)


if __name__ == "__main__":
    main()
