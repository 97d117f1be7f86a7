# Short commands for presets and the scripts of tools/. `make` lists them.
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export JOBS

BUILD := cmake --build --parallel $(JOBS) --preset
# Most tests wait more than they compute: two per core. Those that compute count as two (PROCESSORS).
TEST := ctest --parallel $(shell echo $$((2 * $(JOBS)))) --preset
UNIT_TEST := ctest --parallel $(JOBS) --preset
PROGRAM := build/release/penstock

.PHONY: help deps deps-build deps-package deps-test build program run demo pictures screenshots manual test bench lint format install package interop
.PHONY: asan tsan sanitize simulate tidy fuzz coverage long clean
.NOTPARALLEL:

help: ## list the commands
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: deps-build deps-package deps-test ## install missing dependencies of build and tests
deps-build:
	@tools/deps.sh build
deps-package:
	@tools/deps.sh package
deps-test:
	@tools/deps.sh test

# The first build does not need the libraries of the tests; `make test` enables the tests.
program: deps-build
	@test -e build/release/build.ninja || cmake --preset release -DPENSTOCK_BUILD_TESTS=OFF
	$(BUILD) release --target penstock_cli

build: program ## the programs penstock and penstock-bench in build/release, and the library
	$(BUILD) release --target penstock_bench_cli penstock

run: program ## the daemon on the memory store, with commands to try; Ctrl-C stops it
	@tools/run.sh $(PROGRAM)

demo: program ## the algorithms side by side in the terminal
	$(PROGRAM) demo

pictures: program ## docs/images, drawn by the program
	$(PROGRAM) demo --svg docs/images

screenshots: program deps-test ## docs/images/page_*.png: the operator's page in Chromium, during incidents
	PENSTOCK_PROGRAM=$(CURDIR)/$(PROGRAM) /usr/bin/python3 -B tests/e2e/page_screenshots.py docs/images

manual: program ## packaging/penstock.1, from the definition of the commands
	$(PROGRAM) manual > packaging/penstock.1

test: deps ## everything: tests, lint, then the unit tests under both sanitizers
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	$(BUILD) release
	$(TEST) release
	$(MAKE) asan tsan

asan: deps ## unit tests of the memory store, address and undefined behaviour sanitizers
	cmake --preset asan
	$(BUILD) asan --target penstock_unit_tests
	$(UNIT_TEST) asan

tsan: deps ## the shared state of the memory store, thread sanitizer
	cmake --preset tsan
	$(BUILD) tsan --target penstock_api_test penstock_base_test penstock_store_test
	$(UNIT_TEST) tsan

# The simulation has one thread, and takes more than ten minutes under the thread sanitizer.
sanitize: export TSAN_OPTIONS = halt_on_error=1:second_deadlock_stack=1
sanitize: export ASAN_OPTIONS = detect_stack_use_after_return=1:strict_string_checks=1
sanitize: export UBSAN_OPTIONS = print_stacktrace=1
sanitize: deps ## all tests, including those with real servers, under both sanitizers
	for tool in asan tsan; do \
	  cmake --preset $$tool -B build/$$tool-redis -DPENSTOCK_SHARED_STORE=ON -DPENSTOCK_BUILD_DAEMON=ON && \
	  cmake --build build/$$tool-redis --parallel $(JOBS) && \
	  ctest --test-dir build/$$tool-redis --label-regex '^(unit|sockets|redis)$$' \
	    --exclude-regex "$$([ $$tool = tsan ] && echo simulation || echo nothing)" \
	    --output-on-failure || exit 1; \
	done

# The corpus is kept for the next run.
fuzz: deps ## each target of tests/fuzz for a minute; FUZZ_SECONDS=600 to choose
	cmake --preset fuzz
	$(BUILD) fuzz --target penstock_fuzz
	for program in build/fuzz/tests/fuzz/*_fuzz; do \
	  mkdir -p $$program.corpus && \
	  $$program -max_total_time=$${FUZZ_SECONDS:-60} -timeout=10 -rss_limit_mb=2048 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=$$program.found. $$program.corpus || exit 1; \
	done

# Prints admissions and cost of leases, and the seed of a failed run: PENSTOCK_SEED=... SEEDS=1.
simulate: deps ## leases in virtual time, with all failures; SEEDS=3000 to choose
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	$(BUILD) release --target penstock_simulation_test
	PENSTOCK_SEEDS=$${SEEDS:-3000} build/release/tests/penstock_simulation_test --gtest_filter='*Promises*'
	PENSTOCK_SEEDS=$$(($${SEEDS:-3000} / 30 + 1)) build/release/tests/penstock_simulation_test --gtest_filter='*Utilisation*'

# PENSTOCK_STEPS times the work of `make test`, with other random numbers.
long: deps sanitize fuzz simulate ## sanitizers with real servers, fuzzing, rolling restarts, random tests; PENSTOCK_STEPS=50 to choose
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	$(BUILD) release --target penstock_differential_test penstock_properties_test penstock_cli
	PENSTOCK_RESTARTS=$${PENSTOCK_RESTARTS:-100} PENSTOCK_PROGRAM=$(CURDIR)/build/release/penstock \
	  /usr/bin/python3 -B tests/e2e/rolling_restart_test.py -v RollingRestart
	PENSTOCK_STEPS=$${PENSTOCK_STEPS:-20} build/release/tests/penstock_differential_test
	PENSTOCK_STEPS=$${PENSTOCK_STEPS:-20} build/release/tests/penstock_properties_test

tidy: deps ## build with clang: thread safety analysis, dropped results
	cmake --preset tidy
	$(BUILD) tidy

coverage: deps ## unit tests with gcov; report in build/coverage/report
	cmake --preset coverage
	$(BUILD) coverage
	$(UNIT_TEST) coverage
	mkdir -p build/coverage/report
	gcovr --root . --filter include/ --filter src/ --exclude '.*_test\.cpp' --print-summary \
	  --html-details build/coverage/report/index.html build/coverage

lint: deps ## format, clang-tidy and the checks of tools/
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	ctest --preset release --label-regex '^lint$$' --exclude-regex '^lint_tidy$$'
	tools/run_tidy.sh build/release

format: deps ## format all C++ files
	tools/check_format.sh --fix

bench: deps build ## the figures of docs/explanation/performance.md
	cmake --preset release >/dev/null
	$(BUILD) release --target penstock_micro_bench penstock_http_bench_server
	tools/bench.sh $(PROGRAM)
	bench/http_compare.sh build/release
	bench/resp_compare.sh build/release

interop: deps program ## Envoy and Traefik (PyPI) in front of the daemon, h2spec (Go) against the gateway
	tools/interop.sh $(PROGRAM)

install: build ## install to PREFIX (/usr/local), below DESTDIR if set
	cmake --install build/release --prefix '$(PREFIX)'

package: deps-build deps-package build ## Debian packages, in build/packages
	cpack --config build/release/CPackConfig.cmake -B build/packages
	@rm -rf build/packages/_CPack_Packages

clean: ## remove build/
	rm -rf build
