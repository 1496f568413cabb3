# Every target sets up what it needs in .venv first; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
INSTALLED := $(VENV)/.installed
# Machine code is kept here, and not in the user's cache folder.
export POINSOT_CACHE_DIR ?= $(CURDIR)/$(VENV)/native

.PHONY: demo test test-slow test-robots robots lint format docs bench clean

demo: $(INSTALLED)
	$(BIN)/poinsot run examples/heavy_top.toml --out runs/heavy_top

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"

test-slow: $(INSTALLED)
	$(BIN)/python -m pytest -n 2 --dist loadfile -m slow

# Robots of other people, 131 MB: compared with Pinocchio, and the table of the documentation.
test-robots: $(VENV)/.installed-robots
	$(BIN)/python -m pytest -m slow tests/robots

robots: $(VENV)/.installed-robots
	$(BIN)/python tests/robots/compared.py

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/hamiltonian.py
	$(BIN)/python benchmarks/one_body.py
	$(BIN)/python benchmarks/adaptive.py
	$(BIN)/python benchmarks/chain.py
	$(BIN)/python benchmarks/native.py

$(INSTALLED): pyproject.toml constraints.txt src/poinsot/_version.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(INSTALL) --group dev --editable '.[all]'
	touch $@

$(VENV)/.installed-docs: $(INSTALLED)
	$(INSTALL) --group docs
	touch $@

$(VENV)/.installed-bench: $(INSTALLED)
	$(INSTALL) --group bench
	touch $@

$(VENV)/.installed-robots: $(INSTALLED)
	$(INSTALL) --group robots
	touch $@

clean:
	rm -rf $(VENV) runs site
