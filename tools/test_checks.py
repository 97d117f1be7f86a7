#!/usr/bin/env python3
"""Each check catches a planted violation, and leaves what is right alone."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import check_doc_output
import check_docs
import check_layers
import check_rules
import check_test_filters
import check_tests_built
import check_words
from source_tree import code_only, comments_only

TOOLS = Path(__file__).resolve().parent


class Tree(unittest.TestCase):
    """A source tree of its own for each test."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)

    def plant(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def assert_found(self, problems, *words):
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])


class SourceText(unittest.TestCase):
    def test_comments_and_literals_are_not_code(self):
        text = 'int a; // throw\n/* throw\n */ auto b = "throw"; auto c = \'"\'; auto d = 1\'000;\n'
        code = code_only(text)
        self.assertNotIn("throw", code)
        self.assertIn("auto d = 1'000;", code)
        self.assertEqual(code.count("\n"), text.count("\n"))

    def test_raw_strings_end_at_their_own_mark(self):
        self.assertNotIn("throw", code_only('auto a = R"x(throw )" throw)x";'))
        self.assertIn("throw", code_only('auto a = R"(text)"; throw 1;'))

    def test_only_comments_are_comments(self):
        comments = comments_only('auto a = "// TODO";\nint b; // TODO\n')
        self.assertEqual(comments.count("TODO"), 1)
        self.assertEqual(comments[: comments.index("TODO")].count("\n"), 1)


class Layers(Tree):
    def found(self, path, text):
        self.plant(path, text)
        return check_layers.check(self.root)

    def test_arrows_can_be_followed(self):
        self.plant("src/base/b.hpp", '#include "penstock/time.hpp"\n#include <atomic>\n')
        self.plant("src/store/s.cpp", '#include "core/c.hpp"\n#include "base/b.hpp"\n')
        self.plant("src/api/a.cpp", '#include "store/s.hpp"\n#include "penstock/limiter.hpp"\n')
        self.plant("bench/program/main.cpp", '#include "bench/load.hpp"\n#include <CLI/CLI.hpp>\n')
        self.plant("tests/oracle/o.hpp", "")
        self.plant("src/core/c_test.cpp", '#include "oracle/o.hpp"\n#include <gtest/gtest.h>\n')
        self.assertEqual(check_layers.check(self.root), [])

    def test_arrows_never_turn_back(self):
        found = self.found("src/core/c.cpp", '\n#include "store/s.hpp"\n')
        self.assert_found(found, "src/core/c.cpp:2", "no arrow leads from core to store")

    def test_the_product_does_not_include_the_load_generator(self):
        found = self.found("apps/penstock/main.cpp", '#include "bench/load.hpp"\n')
        self.assert_found(found, "no arrow leads from apps/penstock to bench")

    def test_siblings_do_not_see_each_other(self):
        self.assert_found(self.found("src/rules/r.cpp", '#include "store/s.hpp"\n'), "rules")

    def test_layers_below_the_facade_do_not_know_it(self):
        for header in ("limiter", "penstock", "shared_limiter"):
            found = self.found("src/store/s.cpp", f'#include "penstock/{header}.hpp"\n')
            self.assert_found(found, f"penstock/{header}.hpp")

    def test_programs_of_others_see_public_headers_only(self):
        for path in ("bench/load.cpp", "examples/e.cpp"):
            with self.subTest(path):
                self.assert_found(self.found(path, '#include "store/s.hpp"\n'), "no arrow")
                (self.root / path).unlink()

    def test_public_headers_need_nothing_but_the_standard_library(self):
        path = "include/penstock/quota.hpp"
        self.assertEqual(self.found(path, '#include <span>\n#include "penstock/time.hpp"\n'), [])
        self.assert_found(self.found(path, "#include <boost/asio.hpp>\n"), "standard library only")
        self.assert_found(self.found(path, '#include "core/gcra.hpp"\n'), "not installed")
        self.assert_found(self.found(path, '#include "penstock/limiter.hpp"\n'), "facade for users")

    def test_a_library_stays_in_its_home(self):
        self.assert_found(self.found("src/store/s.cpp", "#include <CLI/CLI.hpp>\n"), "apps")
        self.assert_found(self.found("src/store/s.cpp", "#include <gtest/gtest.h>\n"), "no home")
        self.assert_found(self.found("src/store/s.cpp", "#include <fmt/core.h>\n"), "no home")

    def test_no_asio_in_the_pure_layers(self):
        for layer in ("base", "core", "resp", "rules"):
            with self.subTest(layer):
                path = f"src/{layer}/x.cpp"
                found = self.found(path, "#include <boost/asio/post.hpp>\n")
                self.assert_found(found, "boost/asio/post.hpp")
                (self.root / path).unlink()

    def test_every_folder_has_a_layer(self):
        self.assert_found(self.found("src/utils/u.hpp", ""), "in no layer")

    def test_an_include_in_a_comment_is_none(self):
        self.assertEqual(self.found("src/core/c.cpp", '// \n/*\n#include "store/s.hpp"\n*/\n'), [])


class Rules(Tree):
    def found(self, path, text):
        self.plant(path, text)
        problems = check_rules.check(self.root)
        (self.root / path).unlink()
        return problems

    def assert_breaks(self, rule, path, text):
        with self.subTest(rule=rule, path=path, text=text):
            self.assert_found(self.found(path, text + "\n"), f"{path}:1: {rule}:")

    def assert_fine(self, path, text):
        with self.subTest(path=path, text=text):
            self.assertEqual(self.found(path, text + "\n"), [])

    def test_clocks(self):
        for text in (
            "auto t = std::chrono::steady_clock::now();",
            "auto t = system_clock::now();",
            "auto t = SteadyClock::now();",
            "auto t = __rdtsc();",
            "clock_gettime(CLOCK_REALTIME, &t);",
            "gettimeofday(&t, nullptr);",
            "auto t = time(nullptr);",
            "auto t = std::time(0);",
        ):
            self.assert_breaks("clock", "src/core/c.cpp", text)
            self.assert_fine("bench/load.cpp", text)
            self.assert_fine("src/base/system_clock.cpp", text)
        self.assert_breaks("clock", "src/core/c_test.cpp", "auto t = steady_clock::now();")
        self.assert_fine("src/core/c.cpp", "auto t = clock.now(); auto u = quota.time(0);")
        self.assert_fine("src/core/c.cpp", "Instant FakeClock::now() const noexcept { return t; }")

    def test_sleep(self):
        self.assert_breaks("sleep", "tests/e2e/e_test.cpp", "std::this_thread::sleep_for(1s);")
        self.assert_breaks("sleep", "src/store/s.cpp", "sleep(1);")

    def test_throw(self):
        self.assert_breaks("throw", "src/store/s.cpp", "throw 1;")
        self.assert_breaks("throw", "include/penstock/x.cpp", "throw 1;")
        self.assert_fine("src/api/limiter.cpp", "throw std::invalid_argument(text);")
        self.assert_fine("src/store/s.cpp", "// never throws; to throw is wrong")

    def test_detached(self):
        self.assert_breaks("detached", "bench/b.cpp", "worker.detach();")
        self.assert_breaks("detached", "apps/penstock/main.cpp", "spawn(asio::detached);")

    def test_regex(self):
        self.assert_breaks("regex", "apps/penstock/main.cpp", "std::regex r;")
        self.assert_breaks("regex", "apps/penstock/main.cpp", "#include <regex>")

    def test_reinterpret_cast(self):
        self.assert_breaks("reinterpret_cast", "src/store/s.cpp", "reinterpret_cast<int*>(p);")

    def test_printing(self):
        for text in ("std::cerr << 1;", 'printf("");', 'std::fprintf(f, "");', "std::puts(x);"):
            self.assert_breaks("print", "src/store/s.cpp", text)
            self.assert_fine("apps/penstock/main.cpp", text)
        self.assert_breaks("print", "include/penstock/x.cpp", "#include <iostream>")
        self.assert_fine("src/store/s.cpp", 'std::snprintf(b, n, "");')

    def test_floating_point(self):
        self.assert_breaks("floating point", "src/core/c.cpp", "double rate = 1;")
        self.assert_breaks("floating point", "include/penstock/x.cpp", "float rate = 1;")
        self.assert_fine("bench/load.cpp", "double seconds = 1;")

    def test_threads(self):
        self.assert_breaks("thread", "src/store/s.cpp", "std::thread t;")
        self.assert_breaks("thread", "src/store/s.cpp", "std::jthread t;")
        self.assert_fine("src/store/s.cpp", "std::this_thread::yield();")
        self.assert_fine("src/store/s_test.cpp", "std::jthread t;")

    def test_todo(self):
        self.assert_breaks("todo", "src/core/c.cpp", "// TODO: later")
        self.assert_breaks("todo", "src/core/c.cpp", "// FIXME")
        self.assert_fine("src/core/c.cpp", "// TODO(#12): later")

    def test_nolint(self):
        self.assert_breaks("nolint", "src/core/c.cpp", "int a;  // NOLINT")
        self.assert_fine("src/core/c.cpp", "int a;  // NOLINT(misc-unused)")

    def test_length(self):
        self.assert_fine("src/core/c.cpp", "\n" * 599)
        self.assert_found(self.found("src/core/c.cpp", "\n" * 601), "601 lines")

    def test_pragma_once(self):
        self.assert_found(self.found("src/core/c.hpp", "int a;\n"), "#pragma once")
        self.assert_fine("src/core/c.hpp", "#pragma once\nint a;")

    def test_a_disabled_tidy_check_has_its_reason(self):
        disabled = "Checks: >\n  -*,\n  misc-*,\n  -misc-no-recursion,\n"
        self.assert_found(self.found(".clang-tidy", disabled), "misc-no-recursion")
        reason = "#   misc-no-recursion: it is fine\n"
        self.assertEqual(self.found(".clang-tidy", reason + disabled), [])

    def test_an_exception_needs_its_file(self):
        problems = list(check_rules.problems_of_exceptions(self.root))
        self.assertTrue(any("src/base/system_clock.cpp" in problem for problem in problems))


class Words(Tree):
    def found(self, path, text):
        self.plant(path, text)
        problems = check_words.check(self.root)
        (self.root / path).unlink()
        return problems

    def test_comments_and_messages_of_cpp(self):
        for text in ("// the door\n", "/* the\n door */\n", 'auto a = "the door";\n', "/// Doors.\n"):
            with self.subTest(text):
                self.assert_found(self.found("src/core/c.cpp", text), "src/core/c.cpp:", "listener")
        self.assertEqual(self.found("src/core/c.cpp", "int door = 1;  // a listener\n"), [])

    def test_a_problem_names_the_line_the_word_and_what_to_say(self):
        found = self.found("docs/a.md", "one\n\nWhoever comes\n")
        self.assert_found(found, "docs/a.md:3: Whoever; say the client")

    def test_phrases_are_found_across_lines(self):
        for path, text in (
            ("src/core/c.cpp", "// requests under\n// way\n"),
            ("src/core/c.cpp", 'auto a = "requests under "\n         "way";\n'),
            ("docs/a.md", "requests under\nway\n"),
            ("src/redis_store/lua/a.lua", "-- requests under\n-- way\n"),
        ):
            with self.subTest(path=path, text=text):
                self.assert_found(self.found(path, text), f"{path}:1: under way; say in flight")

    def test_literals_of_different_statements_are_no_phrase(self):
        self.assertEqual(self.found("src/core/c.cpp", 'f("under", "way");\n'), [])
        self.assertEqual(self.found("src/core/c.cpp", 'f("under");\nf("way");\n'), [])

    def test_comments_of_other_languages(self):
        for path, text in (
            ("tools/a.sh", "# nobody\n"),
            ("tools/a.py", "a = 1  # nobody\n"),
            ("tools/a.py", '"""nobody"""\n'),
            ("tools/a.py", 'def f():\n    """nobody"""\n'),
            ("src/redis_store/lua/a.lua", "local a = 1  -- nobody\n"),
            ("examples/a.yaml", "a: 1  # nobody\n"),
            ("examples/caddy/Caddyfile", "# nobody\n"),
            ("packaging/penstock.1", "nobody\n"),
            ("docs/openapi.json", '{"description": "nobody"}\n'),
            ("Makefile", "# nobody\n"),
        ):
            with self.subTest(path=path, text=text):
                self.assert_found(self.found(path, text), path, "nobody")

    def test_code_of_other_languages_is_not_searched(self):
        self.assertEqual(self.found("tools/a.py", 'user = "nobody"\n'), [])
        self.assertEqual(self.found("examples/a.yaml", "user: nobody\n"), [])
        self.assertEqual(self.found("src/redis_store/lua/a.lua", "local nobody = 1\n"), [])

    def test_names_in_comments_are_not_searched(self):
        self.assertEqual(self.found("src/core/c.cpp", "// sent at `heard`, `is_refused()`\n"), [])
        self.assert_found(self.found("docs/a.md", "sent at `heard`\n"), "heard")

    def test_terms_of_others_are_allowed(self):
        for text in ("connection refused", "REFUSED_STREAM", "well-formed", "indoors", "so long that"):
            with self.subTest(text):
                self.assertEqual(self.found("docs/a.md", text + "\n"), [])

    def test_the_changelog_may_list_old_names(self):
        self.assertEqual(self.found("CHANGELOG.md", "- `door` → `listener`\n"), [])
        self.assert_found(self.found("CHANGELOG.md", "- the door\n"), "listener")

    def test_an_exception_needs_its_file(self):
        problems = list(check_words.problems_of_exceptions(self.root))
        self.assertTrue(any("CHANGELOG.md" in problem for problem in problems))


class TestsBuilt(Tree):
    def test_a_test_in_no_target(self):
        self.plant("src/core/a_test.cpp", "")
        self.plant("src/core/b_test.cpp", "")
        entry = {"directory": str(self.root / "build"), "file": "../src/core/a_test.cpp"}
        self.plant("build/compile_commands.json", json.dumps([entry]))
        found = check_tests_built.check(self.root / "build", self.root)
        self.assert_found(found, "src/core/b_test.cpp")

    def test_no_build(self):
        self.assert_found(check_tests_built.check(self.root / "build", self.root), "configure")


class Docs(Tree):
    CODE = "int main() {\n  // [ask]\n  if (a) {\n    b();\n  }\n  // [/ask]\n}\n"
    DOCUMENT = "<!-- snippet: examples/a.cpp#ask -->\n```cpp\nif (a) {\n  b();\n}\n```\n"

    def found(self, path, text):
        self.plant(path, text)
        return check_docs.check(self.root)

    def test_snippets_are_compared_without_their_indentation(self):
        self.plant("examples/a.cpp", self.CODE)
        self.assertEqual(self.found("README.md", self.DOCUMENT), [])
        self.plant("examples/a.cpp", self.CODE.replace("b()", "c()"))
        self.assert_found(check_docs.check(self.root), "README.md:2", "examples/a.cpp#ask", "c();")

    def test_a_snippet_that_is_missing(self):
        self.assert_found(self.found("docs/a.md", self.DOCUMENT), "does not exist")
        self.plant("examples/a.cpp", "int main() {}\n")
        self.assert_found(check_docs.check(self.root), "has no lines between")

    def test_code_needs_a_source(self):
        block = "```cpp\nint a;\n```\n"
        self.assert_found(self.found("docs/adr/0001.md", block), "docs/adr/0001.md:1")
        excused = "<!-- not compiled: a sketch -->\n" + block
        self.assertEqual(self.found("docs/adr/0001.md", excused), [])
        self.assertEqual(self.found("docs/adr/0001.md", "```sh\nmake\n```\n"), [])

    def test_links(self):
        self.plant("docs/a.md", "# A `b_c`: d\n[up](../README.md#top) [out](https://example.org) [here](#a-b_c-d)\n")
        self.assertEqual(self.found("README.md", "# Top\n[a](docs/a.md)\n"), [])
        self.assert_found(self.found("docs/b.md", "\n[c](c.md)\n"), "docs/b.md:2", "c.md")

    def test_links_to_headings(self):
        self.plant("docs/a.md", "# One\n```sh\n# two\n```\n## One\n")
        self.assertEqual(self.found("docs/b.md", "[a](a.md#one) [b](a.md#one-1)\n"), [])
        self.assert_found(self.found("docs/b.md", "[a](a.md#two)\n"), "docs/b.md:1", "#two", "a.md")
        self.assert_found(self.found("docs/b.md", "[a](#one)\n"), "#one", "docs/b.md")

    def test_commands_and_files_that_do_not_exist(self):
        self.plant("Makefile", "bench: deps ## it\n")
        self.plant("docs/reference/cli.md", "## penstock serve\n--config\n")
        self.plant("tests/a_test.py", "")
        right = "`make bench`, `penstock serve --config x`, `tests/a_test.py`, `a_test.py`\n\n```sh\nmake bench\n```\n"
        self.assertEqual(self.found("docs/a.md", right), [])
        for wrong, name in (("`make bnech`", "bnech"), ("`penstock sevre`", "sevre"), ("`penstock serve --cnofig`", "--cnofig"),
                            ("`bench/a.sh`", "bench/a.sh"), ("`b_test.py`", "b_test.py"), ("```sh\n# a\nmake bnech\n```", "docs/a.md:3")):
            with self.subTest(wrong):
                self.assert_found(self.found("docs/a.md", wrong + "\n"), name)

    def test_figures_name_the_command_that_prints_them(self):
        page = "docs/explanation/performance.md"
        table = "| a | b |\n|---|---|\n| c | 7.1 |\n"
        self.assertEqual(self.found(page, "## A\n`penstock bench store`\n" + table + "## Appendix: B\n" + table), [])
        self.assert_found(self.found(page, "## A\n" + table), "## A: figures without the command")

    def test_the_readme_is_short(self):
        self.assertEqual(self.found("README.md", "a\n" * 120), [])
        self.assert_found(self.found("README.md", "a\n" * 121), "121 lines")


class DocOutput(Tree):
    DOCUMENT = "a\n\n<!-- output: say 'two words' -->\n\n```text\nold\n```\n\nb\n"
    PRINTED = "  two words\n\n  color:1"

    def setUp(self):
        super().setUp()
        self.build = self.root / "build"
        self.program("say", 'printf "  %s \\n\\n" "$1" "color:$NO_COLOR"')

    def program(self, name, script):
        self.plant(f"build/{name}", f"#!/bin/sh\n{script}\n")
        (self.build / name).chmod(0o755)

    def found(self, text, directories=None, fix=False):
        self.plant("docs/a.md", text)
        problems, skipped = check_doc_output.check(directories or [self.build], self.root, fix)
        self.assertEqual(skipped, [])
        return problems

    def text(self):
        return (self.root / "docs/a.md").read_text(encoding="utf-8")

    def test_a_block_that_is_not_what_the_program_prints(self):
        problems = self.found(self.DOCUMENT)
        self.assert_found(problems, "docs/a.md:5", "\n-old\n", "+  two words\n+\n+  color:1")

    def test_fix_rewrites_the_block_and_nothing_else(self):
        twice = self.DOCUMENT + self.DOCUMENT.replace("two words", "c")
        self.assertEqual(self.found(twice, fix=True), [])
        fixed = twice.replace("old", self.PRINTED, 1)
        fixed = fixed.replace("old", self.PRINTED.replace("two words", "c"))
        self.assertEqual(self.text(), fixed)
        self.assertEqual(self.found(fixed), [])

    def test_white_space_at_the_end_is_ignored(self):
        self.assertEqual(self.found(self.DOCUMENT.replace("old", self.PRINTED + "  \n")), [])

    def test_a_block_in_a_list(self):
        indented = "".join(f"  {line}\n" for line in self.DOCUMENT.strip().split("\n"))
        self.assertEqual(self.found(indented, fix=True), [])
        self.assertIn("\n  ```text\n    two words\n\n    color:1\n  ```\n", self.text())
        self.assertEqual(self.found(self.text()), [])

    def test_a_comment_without_a_block(self):
        self.assert_found(self.found("<!-- output: say -->\n\ntext\n"), "docs/a.md:1", "no fenced")
        self.assertEqual(self.found("```\n<!-- output: say -->\n```\n"), [])

    def test_an_exit_status_is_an_answer_and_a_signal_is_none(self):
        self.program("say", "echo old; exit 1")
        self.assertEqual(self.found(self.DOCUMENT), [])
        self.program("say", "echo old; kill -9 $$")
        self.assert_found(self.found(self.DOCUMENT), "signal 9")

    def test_a_program_that_does_not_exist(self):
        document = self.DOCUMENT.replace("say", "sing")
        self.assert_found(self.found(document), "docs/a.md:3", "no program sing")
        path = self.DOCUMENT.replace("say", "../build/say")
        self.assert_found(self.found(path), "no program ../build/say")

    def test_a_program_that_is_not_built_yet(self):
        self.plant("docs/a.md", self.DOCUMENT.replace("say", "sing"))
        directories = [self.build, self.root / "build/examples"]
        problems, skipped = check_doc_output.check(directories, self.root)
        self.assertEqual(problems, [])
        self.assert_found(skipped, "docs/a.md", "sing is not built")
        built = self.DOCUMENT.replace("old", self.PRINTED)
        self.assertEqual(self.found(built, directories), [])


class Format(Tree):
    def run_check(self):
        script = self.root / "tools" / "check_format.sh"
        return subprocess.run(
            ["bash", script], capture_output=True, text=True, env={**os.environ}, check=False
        )

    def test_a_file_that_is_not_formatted(self):
        (self.root / "tools").mkdir()
        shutil.copy(TOOLS / "check_format.sh", self.root / "tools")
        shutil.copy(TOOLS.parent / ".clang-format", self.root)
        for folder in ("include", "src", "apps", "bench", "examples", "tests"):
            (self.root / folder).mkdir()
        self.plant("src/a.cpp", "int a = 1;\n")
        result = self.run_check()
        if result.returncode == 77:
            self.skipTest("clang-format is not installed")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.plant("src/a.cpp", "int  a=1;\n")
        result = self.run_check()
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("src/a.cpp", result.stdout)


class Tidy(Tree):
    def check(self, compiled, text):
        """Lints src/core/a.cpp of that text, where `compiled` is compiled."""
        (self.root / "tools").mkdir(exist_ok=True)
        shutil.copy(TOOLS / "run_tidy.sh", self.root / "tools")
        shutil.copy(TOOLS.parent / ".clang-tidy", self.root)
        source = str(self.root / compiled)
        command = {"directory": str(self.root), "file": source, "command": f"c++ -c {source}"}
        self.plant("build/compile_commands.json", json.dumps([command]))
        self.plant("src/core/a.cpp", text)
        return subprocess.run(
            ["bash", self.root / "tools/run_tidy.sh", self.root / "build"],
            capture_output=True, text=True, check=False,
        )

    def expect_bad_name_is_found(self, compiled):
        if shutil.which("run-clang-tidy") is None and shutil.which("run-clang-tidy-14") is None:
            self.skipTest("clang-tidy is not installed")
        for name, status in (("good_name", 0), ("badName", 1)):
            result = self.check(compiled, f"int {name}() {{ return 1; }}\n")
            self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertIn("badName", result.stdout)

    def test_a_name_against_the_rules(self):
        self.expect_bad_name_is_found("src/core/a.cpp")

    def test_a_name_against_the_rules_in_a_unity_build(self):
        unity = "build/src/core/CMakeFiles/penstock_core.dir/Unity/unity_0_cxx.cxx"
        self.plant(unity, f'#include "{self.root}/src/core/a.cpp"\n')
        self.expect_bad_name_is_found(unity)


class TestFilters(Tree):
    def setUp(self):
        super().setUp()
        self.plant("build/tests/penstock_a_test", """#!/bin/sh
case "$2" in *'*Suite*'*) printf 'Modes/Suite.\\n  Works\\n' ;; esac
""")
        (self.root / "build/tests/penstock_a_test").chmod(0o755)

    def found(self, makefile):
        self.plant("Makefile", makefile)
        return check_test_filters.check(self.root / "build", self.root)

    def test_a_filter_that_selects_a_test_passes(self):
        self.assertEqual(self.found("\tx/penstock_a_test --gtest_filter='*Suite*'\n"), [])

    def test_a_filter_that_selects_nothing_is_an_error(self):
        self.assert_found(self.found("\nx/penstock_a_test --gtest_filter='Suite*'\n"),
                          "Makefile:2", "'Suite*' selects no test")

    def test_a_missing_program_is_an_error(self):
        self.assert_found(self.found("x/penstock_b_test --gtest_filter='A'\n"), "penstock_b_test")


if __name__ == "__main__":
    unittest.main()
