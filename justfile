test:
    cargo test --workspace

bench:
    python3 benches/compare.py

docs:
    cargo doc --workspace --no-deps --open

ci:
    .ci/run
