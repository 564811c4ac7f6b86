# Everything a developer runs; CI runs the same. `make help` lists the targets.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STATIC := src/noughts/web/static
JAVASCRIPT := build/javascript
PRETTIER := $(BIN)/node $(JAVASCRIPT)/node_modules/prettier/bin/prettier.cjs --print-width 110
# Compiled modules are kept, whatever the shell says: start-up time depends on them.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help play watch serve test quick browsers check format smoke lowest sessions docs pictures transcripts names bench bench-web bench-lab mutants torture clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1 - /p' $(MAKEFILE_LIST)

# make prints a line of its own about a command that Ctrl-C has ended, unless it ends well.
play: python ## Play in the terminal: nothing to install (ARGS='--o bot:club' plays a bot)
	@trap : INT; PYTHONPATH=src $(PYTHON) -m noughts $(if $(ARGS),play $(ARGS)) || [ $$? = 130 ]

watch: python ## Watch two bots
	@PYTHONPATH=src $(PYTHON) -m noughts watch

serve: $(VENV)/made ## Serve the web game on this machine
	$(BIN)/noughts serve

test: $(VENV)/made $(VENV)/browser ## Run all tests, those of the page in a real browser
	$(BIN)/python -m pytest

quick: $(VENV)/made ## Run the quick tests of the rules, the bots and the texts, in seconds
	$(BIN)/python -m pytest -n2 --hypothesis-profile=quick -m "not thorough" \
		tests/core tests/analysis tests/bots tests/text tests/test_service.py

browsers: $(VENV)/made ## Play the web game in Firefox and WebKit as well
	@{ { command -v firefox-esr || command -v firefox; } && command -v WebKitWebDriver && command -v Xvfb; } > /dev/null || \
		{ $(APT) update -qq && $(APT) install -y -qq firefox-esr webkit2gtk-driver xvfb; }
	$(BIN)/python -m pytest -n0 tests/other_browsers.py

check: $(VENV)/made $(JAVASCRIPT)/made ## Check format, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PRETTIER) --log-level warn --check $(STATIC)/*.js
	$(BIN)/oxlint --deny-warnings $(STATIC)
	$(BIN)/node $(JAVASCRIPT)/node_modules/typescript/bin/tsc --project .

format: $(VENV)/made $(JAVASCRIPT)/made ## Put the code in its one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(PRETTIER) --log-level warn --write $(STATIC)/*.js

smoke: $(VENV)/made ## Build the wheel, install it alone and play one whole game with it
	rm -rf build/smoke
	$(BIN)/python -m build --wheel --no-isolation --outdir build/smoke .
	$(PYTHON) -m venv build/smoke/alone
	build/smoke/alone/bin/pip install --quiet --no-index --no-deps build/smoke/noughts-*.whl
	printf '5\n1\n9\n3\n2\n4\n8\nn\n' | \
		NOUGHTS_STORE=sqlite:build/smoke/games build/smoke/alone/bin/noughts play > build/smoke/output
	tail -n 4 build/smoke/output
	grep -qx 'Player X Won!' build/smoke/output
	build/smoke/alone/bin/noughts store verify --store sqlite:build/smoke/games

lowest: $(VENV)-lowest/made ## Try the web game and the lab with the lowest versions that are allowed
	$(VENV)-lowest/bin/pip install --quiet --no-index --no-build-isolation --no-deps --force-reinstall .
	$(VENV)-lowest/bin/pip check
	$(VENV)-lowest/bin/python tests/smoke.py

sessions: $(VENV)/made ## Write what the command prints now into the sessions of the tests
	WRITE_SESSIONS=1 $(BIN)/python -m pytest -n0 tests/cli/test_sessions.py

docs: $(VENV)/made ## Write what is generated of the docs: certificates of bots, settings, limits, codes, the man page
	$(BIN)/noughts certify --markdown > docs/bots.md.new
	mv docs/bots.md.new docs/bots.md
	cd tests && ../$(BIN)/python -m support.generated_docs && ../$(BIN)/python -m support.man_page

pictures: $(VENV)/made $(VENV)/browser ## Take the pictures of the README
	cd tests && ../$(BIN)/python -m support.pictures

transcripts: $(VENV)/made ## Play the programs of the documents on a terminal, and write what is seen
	cd tests && ../$(BIN)/python -m support.transcripts

names: $(VENV)/made ## Write the public names into the stubs for type checkers
	cd tests && ../$(BIN)/python -m support.public_names

bench: smoke $(VENV)-peers/made ## Measure speed against peers and limits, in one run
	$(BIN)/python -m benchmarks --alone build/smoke/alone/bin --peers $(VENV)-peers/bin/python

bench-web: $(VENV)/made build/peers-web/made ## Measure the web game beside boardgame.io, in one run
	$(BIN)/python -m benchmarks.web --noughts $(BIN)/noughts --peer build/peers-web --folder build/bench-web

bench-lab: $(VENV)/made $(VENV)-peers/made ## Measure the lab beside pgx and PettingZoo, in one run
	$(BIN)/python -m benchmarks.lab --peers $(VENV)-peers/bin/python

mutants: $(VENV)/made ## Measure how many mutants of the core the tests kill
	$(BIN)/python -m benchmarks.mutants

torture: $(VENV)/made $(VENV)/browser $(VENV)/proxies ## Run all tests at length, in about an hour: more examples, kills and hostile input
	NOUGHTS_TORTURE=1 $(BIN)/python -m pytest

clean: ## Remove everything that was made
	rm -rf $(VENV) $(VENV)-peers $(VENV)-lowest build dist mutants .mypy_cache .pytest_cache .ruff_cache .hypothesis

.PHONY: python
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "noughts needs Python 3.11 or later")'

$(VENV)/made: pyproject.toml requirements-dev.txt constraints.txt | python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt --requirement requirements-dev.txt
	$(BIN)/pip install --quiet --no-build-isolation --no-deps --editable .
	touch $@

$(JAVASCRIPT)/made: Makefile $(VENV)/made
	mkdir -p $(JAVASCRIPT)
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/npm install --silent --no-package-lock --no-fund --no-audit \
		--prefix $(JAVASCRIPT) prettier@3.10.1 typescript@7.0.2
	touch $@

# A Chromium for the tests of the page: the system's if there is one, or can be, and otherwise Playwright's.
# Most of them take less time in its shell for such uses, which Playwright brings along.
CHROMIUM := command -v chromium || command -v chromium-browser || command -v google-chrome
APT := DEBIAN_FRONTEND=noninteractive apt-get

$(VENV)/browser: $(VENV)/made
	@{ $(CHROMIUM); } > /dev/null || \
		{ test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
			{ $(APT) install -y -qq chromium || { $(APT) update -qq && $(APT) install -y -qq chromium; }; }; } || \
		$(BIN)/playwright install chromium
	@{ command -v chromium-headless-shell || ! { $(CHROMIUM); }; } > /dev/null || \
		{ test "$$(id -u)" = 0 && command -v apt-get > /dev/null && $(APT) install -y -qq chromium-headless-shell; } || \
		echo 'The tests of the page take longer without chromium-headless-shell.'
	touch $@

# For two tests of the torture; openssl makes a certificate.
PROXIES := nginx-light openssl pgbouncer

$(VENV)/proxies: $(VENV)/made
	@{ command -v nginx && command -v openssl && command -v pgbouncer; } > /dev/null || \
		{ $(APT) install -y -qq $(PROXIES) || { $(APT) update -qq && $(APT) install -y -qq $(PROXIES); }; }
	touch $@

$(VENV)-lowest/made: pyproject.toml tests/lowest_versions.py | python
	rm -rf $(VENV)-lowest
	$(PYTHON) -m venv $(VENV)-lowest
	$(PYTHON) tests/lowest_versions.py > $(VENV)-lowest/requirements.txt
	$(VENV)-lowest/bin/pip install --quiet --no-compile --only-binary :all: --requirement $(VENV)-lowest/requirements.txt
	touch $@

$(VENV)-peers/made: requirements-peers.txt constraints.txt | python
	$(PYTHON) -m venv $(VENV)-peers
	@$(VENV)-peers/bin/pip install --quiet --constraint constraints.txt --requirement requirements-peers.txt \
		&& touch $@ || echo 'A peer could not be installed: it is reported as absent.'

build/peers-web/made: Makefile
	mkdir -p build/peers-web
	@npm install --silent --no-package-lock --no-fund --no-audit --prefix build/peers-web \
		boardgame.io@0.50.2 koa-compose@4.1.0 node-persist@3.1.3 \
		&& touch $@ || echo 'boardgame.io could not be installed: it is reported as absent.'
