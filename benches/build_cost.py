#!/usr/bin/env python3
"""What building costs: `python3 benches/build_cost.py [quickstart] [closures] [tests] [--keep]`.

Each measurement builds in a directory of its own, `target/build-cost`, and tells processor seconds (user and system,
all threads), because those do not depend on what else the machine does:

* quickstart: the first `cargo run --release --example quickstart`, crate by crate;
* closures: `benches/closures.rs`, a user's crate of 300 dense lines, in release and in development mode, when all that
  it depends on is built;
* tests: the first `cargo test --workspace --all-features --no-run`, crate by crate.

Without words it makes all three. The directory goes at the end, unless `--keep` is said.
"""

import collections
import json
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "target" / "build-cost"
LOG = TARGET / "rustc.log"
SHOWN = 14


def wrap(arguments):
    """Stands before rustc, as RUSTC_WRAPPER: runs it and notes the crate and its processor time."""
    pid = os.posix_spawnp(arguments[0], arguments, os.environ)
    _, status, usage = os.wait4(pid, 0)
    if "--crate-name" in arguments:
        crate = arguments[arguments.index("--crate-name") + 1]
        note = {"crate": crate, "test": "--test" in arguments, "cpu": usage.ru_utime + usage.ru_stime}
        with open(os.environ["BUILD_COST_LOG"], "a") as log:
            log.write(json.dumps(note) + "\n")
    return os.waitstatus_to_exitcode(status)


def build(*arguments):
    """Runs cargo with these arguments; gives all processor seconds, those of each crate, and seconds on the clock."""
    TARGET.mkdir(parents=True, exist_ok=True)
    LOG.write_text("")
    environment = os.environ | {
        "RUSTC_WRAPPER": str(pathlib.Path(__file__).resolve()),
        "BUILD_COST_LOG": str(LOG),
        "CARGO_TARGET_DIR": str(TARGET),
        "CARGO_INCREMENTAL": "0",
    }
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run(["cargo", *arguments], cwd=ROOT, env=environment, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    crates = collections.Counter()
    for line in LOG.read_text().splitlines():
        note = json.loads(line)
        crates[note["crate"] + (" (tests)" if note["test"] else "")] += note["cpu"]
    cpu = (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
    return cpu, crates, end - start


def tell(title, cpu, crates, clock):
    print(f"\n{title}: {cpu:.0f} s of processor time, {clock:.0f} s on the clock")
    for crate, seconds in crates.most_common(SHOWN):
        print(f"    {seconds:7.1f}  {crate}")
    rest = sorted(crates.values(), reverse=True)[SHOWN:]
    if rest:
        print(f"    {sum(rest):7.1f}  {len(rest)} others")
    sys.stdout.flush()


def quickstart():
    tell("quickstart", *build("build", "--release", "--example", "quickstart"))


def closures():
    for title, profile in [("closures, release", ["--release"]), ("closures, development", [])]:
        build("build", "-p", "jaxide", "--lib", *profile)
        cpu, crates, clock = build("rustc", "-p", "jaxide", "--bench", "closures", *profile)
        tell(title, crates["closures"], collections.Counter(), clock)


def tests():
    tell("tests", *build("test", "--workspace", "--all-features", "--no-run"))
    files = [p for p in (TARGET / "debug").rglob("*") if p.is_file()]
    binaries = [p for p in (TARGET / "debug" / "deps").iterdir() if p.is_file() and not p.suffix and os.access(p, os.X_OK)]
    print(f"    {len(binaries)} programs; {sum(p.stat().st_size for p in files) / 2**30:.1f} GiB on disk")


PARTS = {"quickstart": quickstart, "closures": closures, "tests": tests}


def main(words):
    keep = "--keep" in words
    words = [word for word in words if word != "--keep"] or list(PARTS)
    if unknown := set(words) - set(PARTS):
        sys.exit(f"no such measurement: {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    shutil.rmtree(TARGET, ignore_errors=True)
    for word in words:
        PARTS[word]()
    if not keep:
        shutil.rmtree(TARGET)


if __name__ == "__main__":
    if "BUILD_COST_LOG" in os.environ:
        sys.exit(wrap(sys.argv[1:]))
    main(sys.argv[1:])
