test:
    cargo test --workspace --all-features

bench:
    cargo build --release -p jaxide-cli
    python3 benches/compare.py benches/programs.py

docs:
    cargo doc --workspace --no-deps --open

ci:
    .ci/run
