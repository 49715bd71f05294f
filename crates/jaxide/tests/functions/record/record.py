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


def kept(path, lines):
    """The lines with the results that are recorded already, where element types and shapes are still the same."""
    with open(path) as file:
        recorded = dict(line.rstrip("\n").rsplit(" = ", 1) for line in file)

    def types(results):
        return [result.split(" ")[0] for result in results.split(" & ")]

    def line(new):
        case, answer = new.rsplit(" = ", 1)
        results, mark, text = answer.partition(" # ")
        old = recorded.get(case, answer).partition(" # ")[0]
        return f"{case} = {old if types(old) == types(results) else results}{mark}{text}"

    return [line(new) for new in lines]


def main():
    words = sys.argv[1:]
    show = None
    if "--show" in words:
        at = words.index("--show")
        show = words[at + 1]
        words = words[:at]
    keep = "--keep" in words
    words = [word for word in words if word != "--keep"]
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
        path = os.path.join(HERE, "..", "cases", f"{name}.txt")
        lines = kept(path, recorder.lines) if keep else recorder.lines
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        print(name, len(recorder.lines), flush=True)


if __name__ == "__main__":
    main()
