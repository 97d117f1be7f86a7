# Short commands for people; all of them are a preset or a script of tools/. `make` lists them.
SHELL := /bin/bash
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export JOBS

BUILD := cmake --build --parallel $(JOBS) --preset
TEST := ctest --parallel $(JOBS) --preset
PROGRAM := build/release/penstock

.PHONY: help deps deps-build deps-test build run test bench lint format install
.PHONY: asan tsan tidy coverage clean
.NOTPARALLEL:

help: ## list the commands
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18

deps: deps-build deps-test ## install what is missing to build and to test
deps-build:
	@tools/deps.sh build
deps-test:
	@tools/deps.sh test

# The first build does not ask for the libraries of the tests; `make test` turns the tests on.
build: deps-build ## build/release/penstock, the program, and the library
	@test -e build/release/build.ninja || cmake --preset release -DPENSTOCK_BUILD_TESTS=OFF
	$(BUILD) release --target penstock_cli

run: build ## the algorithms side by side in the terminal
	$(PROGRAM) demo

test: deps ## everything: tests, lint, then the unit tests under both sanitizers
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	$(BUILD) release
	$(TEST) release
	$(MAKE) asan tsan

asan: deps ## unit tests with the address and undefined behaviour sanitizers
	cmake --preset asan
	$(BUILD) asan
	$(TEST) asan

tsan: deps ## unit tests with the thread sanitizer
	cmake --preset tsan
	$(BUILD) tsan
	$(TEST) tsan

tidy: deps ## build with clang: thread safety analysis, dropped results
	cmake --preset tidy
	$(BUILD) tidy

coverage: deps ## unit tests with gcov; report in build/coverage/report
	cmake --preset coverage
	$(BUILD) coverage
	$(TEST) coverage
	mkdir -p build/coverage/report
	gcovr --root . --filter include/ --filter src/ --exclude '.*_test\.cpp' --print-summary \
	  --html-details build/coverage/report/index.html build/coverage

lint: deps ## format, clang-tidy and the checks of tools/
	cmake --preset release -DPENSTOCK_BUILD_TESTS=ON
	ctest --preset release --label-regex '^lint$$'

format: deps ## format all C++ files
	tools/check_format.sh --fix

bench: deps build ## the figures of docs/performance.md
	cmake --preset release >/dev/null && $(BUILD) release --target penstock_micro_bench
	tools/bench.sh $(PROGRAM)

install: build ## install to PREFIX (/usr/local), below DESTDIR if set
	cmake --install build/release --prefix '$(PREFIX)'

clean: ## remove build/
	rm -rf build
