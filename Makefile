# inkle's commands. Each installs what it lacks first; `make help` lists them.

SHELL := /bin/bash
PYTHON_VENV := .venv/bin/python

.PHONY: help setup build demo test conformance lint bench bench-plots bench-ops bench-rust gpu-bundle test-gpu bench-gpu wheel clean

help: ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## install LLVM 22 and a .venv with what is missing
	@scripts/setup.sh

build: setup ## build the Python package into .venv
	@scripts/build.sh

demo: build ## denoise a photograph, observe a humanoid, export its policy; pictures in out/
	@scripts/setup.sh demo
	@$(PYTHON_VENV) demos/run_all.py

test: build ## run every test of Rust and Python
	@scripts/setup.sh test
	@$(PYTHON_VENV) scripts/run_tests.py

conformance: build ## run Warp's own tests on inkle and print what part passes (CONFORMANCE_FLAGS=--help)
	@$(PYTHON_VENV) scripts/conformance.py $(CONFORMANCE_FLAGS)

lint: setup ## formatting, clippy, rustdoc, crate dependencies, tracked files, ruff
	@scripts/lint.sh

bench: setup ## measure inkle, as users install it, and Warp side by side on the CPU
	@scripts/setup.sh bench
	@scripts/wheel.sh dist
	@.bench-venv/bin/python -m pip install --quiet --no-deps --force-reinstall dist/inkle-*.whl
	@$(PYTHON_VENV) benches/run.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)
	@$(PYTHON_VENV) benches/launches.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)
	@$(PYTHON_VENV) benches/kernels.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)
	@$(PYTHON_VENV) benches/modules.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)
	@$(PYTHON_VENV) benches/replay.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)
	@$(PYTHON_VENV) benches/gradients.py --inkle-python .bench-venv/bin/python $(BENCH_FLAGS)

bench-plots: setup ## draw the plots of docs/performance.md from benches/results
	@scripts/setup.sh demo
	@$(PYTHON_VENV) benches/plots.py

bench-ops: build ## measure the operators for PyTorch and ONNX Runtime beside a live graph
	@scripts/setup.sh test
	@$(PYTHON_VENV) benches/operators.py $(BENCH_FLAGS)

bench-rust: build ## measure kernels written in Rust beside CubeCL's and Python's (BENCH_FLAGS=--device cuda:0)
	@$(PYTHON_VENV) benches/rust.py $(BENCH_FLAGS)

gpu-bundle: setup ## build what test-gpu needs on a machine without Rust, into build/gpu
	@scripts/gpu_bundle.sh

test-gpu: ## run the tests that need an NVIDIA GPU (SANITIZE=1 adds compute-sanitizer)
	@scripts/test_gpu.sh

bench-gpu: ## measure inkle, Warp (BENCH_PEER=folder) and CUDA C++ on an NVIDIA GPU
	@BENCH_PEER=$(BENCH_PEER) scripts/with_gpu_python.sh benches/gpu.py $(BENCH_FLAGS)
	@BENCH_PEER=$(BENCH_PEER) scripts/with_gpu_python.sh benches/gradients.py --device cuda:0 $(BENCH_FLAGS)

wheel: setup ## build a wheel with LLVM inside, into dist/
	@scripts/wheel.sh dist

clean: ## remove what was built, not the downloads
	rm -rf build dist out target
