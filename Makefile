# Each command is complete on a fresh machine: it makes the virtual environment, installs, and runs.
PYTHON ?= python3
VENV := .venv
INSTALLED := $(VENV)/.installed

.PHONY: demo test bench calibrate fuzz docs notebooks reproduce lowest newest clean
.DEFAULT_GOAL := demo

demo: $(INSTALLED)  ## recover the latents of a small simulated world
	$(VENV)/bin/unmix demo

test: $(INSTALLED)  ## lint, types, tests and doctests
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/pytest -n auto

bench: $(INSTALLED)  ## speed and memory against good baselines
	$(VENV)/bin/python -m benchmarks

calibrate: $(INSTALLED)  ## false-positive rates and coverage of intervals over designs with a known truth: minutes
	$(VENV)/bin/python -m calibration

fuzz: $(INSTALLED)  ## damaged files, kills and many writers, bounded in time and count: a quarter of an hour
	$(VENV)/bin/python -m fuzz

docs: $(INSTALLED)  ## the docs site, in site/
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict

notebooks: $(INSTALLED)  ## notebooks from the scripts in examples/
	$(VENV)/bin/python examples/notebooks.py

reproduce: $(INSTALLED)  ## the papers' tables again, published next to obtained, in README and docs: hours
	for exhibit in $$($(VENV)/bin/python -c "from unmix.papers import catalogue; print(*catalogue())"); \
		do $(VENV)/bin/unmix reproduce $$exhibit || exit 1; done
	$(VENV)/bin/python docs/tables.py runs/reproduce

# Both ends of what pyproject.toml admits, with torch as constraints.txt has it: pip finds a build of it for the CPU.
lowest newest: constraints.txt  ## the tests with the lowest and with the newest versions that pyproject.toml admits
	$(PYTHON) -m venv --clear .venv-$@
	grep '^torch==' constraints.txt > .venv-$@/torch.txt
	.venv-$@/bin/pip install --quiet --constraint .venv-$@/torch.txt torch uv
	.venv-$@/bin/uv pip install --quiet --python .venv-$@/bin/python --constraint .venv-$@/torch.txt \
		--resolution $(if $(filter lowest,$@),lowest-direct,highest) --editable '.[test]'
	.venv-$@/bin/pytest -n auto

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .venv-lowest .venv-newest
