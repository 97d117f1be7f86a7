"""The command line of the built program, named by PENSTOCK_PROGRAM."""

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM = os.environ.get("PENSTOCK_PROGRAM", "")
ALLOWED, DENIED, BAD_INPUT, UNAVAILABLE = 0, 1, 2, 3
COMMANDS = (
    [],
    ["init"],
    ["serve"],
    ["validate"],
    ["explain"],
    ["replay"],
    ["check"],
    ["peek"],
    ["reset"],
    ["block"],
    ["unblock"],
    ["override"],
    ["override", "set"],
    ["override", "list"],
    ["override", "remove"],
    ["actions"],
    ["top"],
    ["audit"],
    ["verify"],
    ["bench"],
    ["bench", "store"],
    ["bench", "http"],
    ["bench", "grpc"],
    ["bench", "resp"],
    ["demo"],
    ["completion"],
)
HIDDEN = ("manual",)
ALGORITHMS = {
    "token_bucket",
    "gcra",
    "fixed_window",
    "anchored_window",
    "sliding_log",
    "sliding_counter",
    "sub_windows",
}


def environment(**extra):
    unwanted = ("NO_COLOR", "TERM", "PENSTOCK_STORE", "PENSTOCK_SERVER")
    clean = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**clean, **extra}


def run(*arguments, folder=None):
    return subprocess.run(
        [PROGRAM, *arguments],
        cwd=folder,
        env=environment(TERM="xterm"),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def run_on_terminal(*arguments, **extra):
    """Output of the program on a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *arguments], env=environment(**extra), stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    printed = b""
    try:
        while chunk := os.read(ours, 65536):
            printed += chunk
    except OSError:  # EOF of a pseudoterminal on Linux
        pass
    os.close(ours)
    process.wait(timeout=60)
    return printed.decode("utf-8")


class CliTest(unittest.TestCase):
    def assert_usage_error(self, result, *words):
        self.assertEqual(result.returncode, BAD_INPUT, result)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("penstock"), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)


class ProgramTest(CliTest):
    def test_version(self):
        result = run("--version")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r"^penstock \d+\.\d+\.\d+\n$")

    def test_every_command_has_help(self):
        for arguments in COMMANDS:
            arguments = [*arguments, "--help"]
            result = run(*arguments)
            self.assertEqual(result.returncode, 0, arguments)
            self.assertIn("Usage: penstock", result.stdout)
            self.assertEqual(result.stderr, "")

    def test_help_lists_the_commands_in_the_order_of_their_use(self):
        lines = run("--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
        names = [line.split()[0] for line in lines.splitlines() if line[2:3] != " "]
        self.assertEqual(names, [words[0] for words in COMMANDS if len(words) == 1])

    def test_help_fits_the_terminal(self):
        for arguments in COMMANDS:
            for line in run(*arguments, "--help").stdout.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_without_a_command_it_prints_what_to_do_next(self):
        result = run()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^penstock \d+\.\d+\.\d+: a rate limiter")
        suggested = re.findall(r"^  (penstock .+?)(?: {2,}|$)", result.stdout, re.M)
        for wanted in ("penstock init", "penstock serve", "penstock demo", "penstock --help"):
            self.assertIn(wanted, suggested)
        with tempfile.TemporaryDirectory() as folder:
            for line in suggested:
                if line == "penstock serve":  # tests/e2e/init_test.py
                    continue
                done = run(*line.split()[1:], folder=folder)
                self.assertIn(done.returncode, (ALLOWED, DENIED), done)
                self.assertEqual(done.stderr, "", done)

    def test_each_command_has_examples_of_itself(self):
        for arguments in COMMANDS[1:]:
            text = run(*arguments, "--help").stdout
            examples = re.findall(r"^  (penstock.*)$", text.partition("Examples:\n")[2].partition("\n\n")[0], re.M)
            if len(arguments) == 1:
                self.assertTrue(examples, f"{arguments} has no example")
            for example in examples:
                self.assertTrue(f"{example} ".startswith(f"penstock {' '.join(arguments)} "), example)
            self.assertNotIn("Example:", text)

    def test_examples_of_the_help_are_valid(self):
        """Every option of an example exists: the error, if any, is about files and servers."""
        for arguments in COMMANDS:
            for example in re.findall(r"^  (penstock .*)$", run(*arguments, "--help").stdout, re.M):
                words = shlex.split(example.partition(" > ")[0])[1:]
                if words[0] in ("serve", "bench", "verify"):  # run by other tests
                    continue
                with tempfile.TemporaryDirectory() as folder:
                    result = run(*words, folder=folder)
                self.assertNotIn("unknown", result.stderr, example)
                self.assertNotIn("--help", result.stderr, example)

    def test_hidden_commands_are_not_shown(self):
        for name in HIDDEN:
            self.assertNotRegex(run("--help").stdout, rf"(?m)^  {name}\b")

    def test_unknown_command_suggests_the_right_one(self):
        self.assert_usage_error(run("chekc", "alice"), '"chekc"', "did you mean check?")

    def test_unknown_command_without_a_neighbour(self):
        result = run("frobnicate")
        self.assert_usage_error(result, '"frobnicate"')
        self.assertNotIn("did you mean", result.stderr)

    def test_unknown_option_suggests_the_right_one(self):
        result = run("check", "alice", "--limt=5/s")
        self.assert_usage_error(result, '"--limt"', "did you mean --limit?", "penstock check --help")

    def test_the_load_generator_receives_all_arguments(self):
        self.assertRegex(run("bench", "--version").stdout, r"^penstock-bench \d+\.\d+\.\d+\n$")
        self.assertIn("Usage: penstock-bench http", run("bench", "http", "--help").stdout)
        self.assertIn("Usage: penstock-bench verify", run("verify", "--help").stdout)
        for arguments in (["bench", "store", "--kyes", "5"], ["bench", "store", "--kyes=5", "--json"]):
            self.assert_usage_error(run(*arguments), '"--kyes"', "did you mean --keys?", "penstock-bench store")
        self.assert_usage_error(run("bench", "stroe"), '"stroe"', "did you mean store?")
        self.assert_usage_error(run("bench"), "subcommand", "store", "verify", "penstock-bench --help")

    def test_a_load_generator_in_path_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(PROGRAM, folder)
            result = subprocess.run(
                [program, "bench", "--version"], env=environment(PATH=os.path.dirname(PROGRAM)), capture_output=True,
                encoding="utf-8", timeout=60, check=False,
            )
            self.assertRegex(result.stdout, "^penstock-bench ")

    def test_a_missing_load_generator_is_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(PROGRAM, folder)
            for command in ("bench", "verify"):
                result = subprocess.run(
                    [program, command, "--help"], env=environment(PATH=folder), capture_output=True,
                    encoding="utf-8", timeout=60, check=False,
                )
                self.assertEqual(result.returncode, UNAVAILABLE)
                self.assertEqual(result.stdout, "")
                self.assertTrue(result.stderr.startswith(f"penstock {command}: "), result.stderr)
                self.assertIn("penstock-bench is not installed", result.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "needs /dev/full")
    def test_output_that_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run(
                [PROGRAM, "demo"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
            )
        self.assertEqual(result.returncode, BAD_INPUT)
        self.assertIn(b"cannot write", result.stderr)


class CheckTest(CliTest):
    def decisions(self, *arguments):
        result = run("check", "--json", *arguments)
        self.assertEqual(result.stderr, "")
        return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]

    def test_allowed(self):
        result = run("check", "alice", "--limit", "100/m")
        self.assertEqual(result.returncode, ALLOWED)
        self.assertEqual(result.stdout.splitlines()[0], "allowed")
        for words in ("alice", "100 per 1 min", "token_bucket", "99 of 100", "in 600 ms"):
            self.assertIn(words, result.stdout)
        self.assertNotIn("retry", result.stdout)

    def test_a_denial_shows_retry_after(self):
        result = run("check", "alice", "--limit", "1/h fixed_window", "--repeat", "2")
        if result.returncode == ALLOWED:  # an hour may have just started
            result = run("check", "alice", "--limit", "1/h fixed_window", "--repeat", "2")
        self.assertEqual(result.returncode, DENIED)
        first, second = result.stdout.splitlines()
        self.assertRegex(first, r"^ +1  allowed  remaining 0 of 1  reset in ")
        self.assertRegex(second, r"^ +2  denied   remaining 0 of 1  reset in .+  retry in ")

    def test_json_has_the_documented_fields(self):
        code, [decision] = self.decisions("alice", "--limit", "100/m")
        self.assertEqual(code, ALLOWED)
        self.assertEqual(
            decision,
            {
                "key": "alice",
                "allowed": True,
                "outcome": "allowed",
                "algorithm": "token_bucket",
                "limit": 100,
                "remaining": 99,
                "reset_after_us": 600_000,
                "retry_after_us": 0,
            },
        )

    def test_repeat_gives_a_line_for_each_and_the_last_exit_code(self):
        code, decisions = self.decisions("alice", "--limit", "2/day", "--repeat", "3")
        self.assertEqual(code, DENIED)
        self.assertEqual([d["outcome"] for d in decisions], ["allowed", "allowed", "denied"])
        self.assertEqual([d["remaining"] for d in decisions], [1, 0, 0])
        half_a_day = 12 * 3600 * 1_000_000
        self.assertGreater(decisions[2]["retry_after_us"], half_a_day - 60_000_000)
        self.assertLessEqual(decisions[2]["retry_after_us"], half_a_day)

    def test_each_run_starts_unused(self):
        for _ in range(2):
            self.assertEqual(run("check", "alice", "--limit", "1/day").returncode, ALLOWED)

    def test_every_algorithm(self):
        for algorithm in ALGORITHMS:
            code, [decision] = self.decisions("alice", "--limit", "5/m", "--algorithm", algorithm)
            self.assertEqual((code, decision["algorithm"]), (ALLOWED, algorithm))
            self.assertEqual(decision["remaining"], 4)

    def test_options_override_the_limit_text(self):
        _, [decision] = self.decisions(
            "alice", "--limit", "5/m burst 7 gcra", "--burst", "9", "--algorithm", "token_bucket"
        )
        self.assertEqual((decision["algorithm"], decision["limit"]), ("token_bucket", 9))

    def test_the_limit_text_may_have_burst_and_algorithm(self):
        _, [decision] = self.decisions("alice", "--limit", "5/m burst 7 gcra")
        self.assertEqual((decision["algorithm"], decision["limit"]), ("gcra", 7))

    def test_cost_is_charged(self):
        _, [decision] = self.decisions("alice", "--limit", "10/m", "--cost", "4")
        self.assertEqual(decision["remaining"], 6)

    def test_cost_zero_is_a_peek(self):
        code, decisions = self.decisions("alice", "--limit", "1/m", "--cost", "0", "--repeat", "3")
        self.assertEqual(code, ALLOWED)
        self.assertEqual([d["remaining"] for d in decisions], [1, 1, 1])

    def test_cost_that_never_fits(self):
        code, [decision] = self.decisions("alice", "--limit", "10/m", "--cost", "11")
        self.assertEqual(code, DENIED)
        self.assertEqual((decision["outcome"], decision["retry_after_us"]), ("never_fits", None))
        result = run("check", "alice", "--limit", "10/m", "--cost", "11")
        self.assertRegex(result.stdout, "denied: cost 11 .* 10\n")
        self.assertRegex(result.stdout, "retry +never")

    def test_keys_are_used_verbatim(self):
        for key in ("demo", "a b", "ключ", "--limit", "/x"):
            _, [decision] = self.decisions("--limit", "1/s", "--", key)
            self.assertEqual(decision["key"], key)

    def test_wrong_numbers(self):
        for option in ("--cost", "--burst", "--repeat"):
            for value in ("-1", "abc", "1.5", "", "99999999999999999999"):
                result = run("check", "alice", "--limit", "10/m", option, value)
                self.assert_usage_error(result, f'{option} "{value}"', "expected a whole number")

    def test_wrong_limits(self):
        for limit, words in (
            ("", "a limit such as 100"),
            ("ten/m", '"ten/m"'),
            ("-5/m", "limit -5 must be at least 1"),
            ("0/m", "limit 0 must be at least 1"),
            ("10/fortnight", '"fortnight"'),
            ("10", "the end"),
        ):
            self.assert_usage_error(run("check", "alice", "--limit", limit), "--limit", words)

    def test_burst_needs_a_bucket(self):
        result = run("check", "alice", "--limit", "5/m sliding_log", "--burst", "7")
        self.assert_usage_error(result, "burst 7", "sliding_log")

    def test_unknown_algorithm_names_the_known_ones(self):
        result = run("check", "alice", "--limit", "5/m", "--algorithm", "magic")
        self.assert_usage_error(result, '"magic"', *ALGORITHMS)

    def test_unknown_store(self):
        result = run("check", "alice", "--limit", "5/m", "--store", "tcp://user:secret@localhost")
        self.assert_usage_error(result, "--store", "redis://", "memory://")
        self.assertNotIn("secret", result.stderr)

    def test_known_store(self):
        result = run("check", "alice", "--limit", "5/m", "--store", "memory://")
        self.assertEqual(result.returncode, ALLOWED)

    def test_missing_arguments(self):
        self.assert_usage_error(run("check", "--limit", "5/m"), "KEY")
        self.assert_usage_error(run("check", "alice"), "--limit")
        self.assert_usage_error(run("check", "alice", "--limit"), "--limit")
        self.assert_usage_error(run("check", "", "--limit", "5/m"), "KEY")

    def test_one_argument_too_many(self):
        self.assert_usage_error(run("check", "alice", "bob", "--limit", "5/m"), '"bob"')
        self.assert_usage_error(run("check", "--limit", "5/m", "--", "alice", "bob"), '"bob"')


class ExplainArgumentsTest(CliTest):
    """The domain and the files of `penstock explain`."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, *domains):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("domains:\n")
            for domain in domains:
                file.write(f"  {domain}: {{rules: [{{name: all, limit: 5/s}}]}}\n")
        return path

    def test_the_only_domain_needs_no_option(self):
        path = self.write("one.yaml", "web")
        result = run("explain", "--config", path, "path=/")
        self.assertEqual((result.returncode, result.stderr), (ALLOWED, ""))
        self.assertTrue(result.stdout.startswith(
            "Using domain web, the only one in the configuration.\nRules of web:\n"), result.stdout)
        self.assertEqual(json.loads(run("explain", "--config", path, "--json").stdout)["domain"], "web")

    def test_the_default_domain_needs_no_option(self):
        result = run("explain", "--config", self.write("two.yaml", "default", "web"))
        self.assertEqual(result.returncode, ALLOWED)
        self.assertTrue(result.stdout.startswith("Rules of default:\n"), result.stdout)

    def test_one_of_several_domains_must_be_named(self):
        self.assert_usage_error(run("explain", "--config", self.write("two.yaml", "web", "api")),
                                "--domain is required; the configuration has the domains api, web\n")
        many = self.write("many.yaml", *(f"d{number}" for number in range(10, 22)))
        self.assert_usage_error(run("explain", "--config", many), "d18, d19 and 2 more\n")

    def test_several_files_need_several_options(self):
        first, second = self.write("a.yaml", "web"), self.write("b.yaml", "api")
        self.assert_usage_error(run("explain", "--config", first, second),
                                "b.yaml\" must be NAME=VALUE; repeat --config for several files")
        self.assert_usage_error(run("explain", "--config", first, "absent.yml"), "repeat --config")
        self.assertNotIn("--config", run("explain", "--config", first, "path").stderr)
        result = run("explain", "--config", first, "--config", second, "--domain", "api", "path=/")
        self.assertEqual(result.returncode, ALLOWED, result)
        self.assertIn("--config FILE  ", run("explain", "--help").stdout)


class ColourTest(CliTest):
    """Colours and symbols on a terminal only, and not with NO_COLOR."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.valid = self.write("valid.yaml", "domains: {api: {rules: [{name: all, limit: 5/s}]}}\n")
        self.broken = self.write("broken.yaml", "domains: {api: {rules: [{name: all, limit: 5/x}]}}\n")

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def commands(self):
        return {
            ("check", "alice", "--limit", "5/m"): "\x1b[0;32m✓ allowed\x1b[0m",
            ("check", "alice", "--limit", "5/m", "--cost", "9"): "\x1b[0;1;31m✗ denied",
            ("check", "alice", "--limit", "1/d", "--repeat", "2"): "✗ denied",
            ("validate", self.valid): "✓ ok: 1 rule",
            ("validate", self.broken): "\x1b[0;1;31merror: ",
            ("explain", "--config", self.valid, "--domain", "api", "path=/"): "\x1b[0;32m  + ",
            ("explain", "--config", self.valid, "--domain", "none", "path=/"): "There is no domain",
        }

    def test_on_a_terminal(self):
        for arguments, expected in self.commands().items():
            self.assertIn(expected, run_on_terminal(*arguments, TERM="xterm"), arguments)

    def test_neither_in_a_pipe_nor_with_no_color(self):
        for arguments in self.commands():
            result = run(*arguments)
            for text in (result.stdout, result.stderr, run_on_terminal(*arguments, TERM="xterm", NO_COLOR="1"),
                         run_on_terminal(*arguments, TERM="dumb")):
                for sign in ("\x1b", "✓", "✗"):
                    self.assertNotIn(sign, text, arguments)


class DemoTest(CliTest):
    def test_shows_every_algorithm_and_its_worst_period(self):
        result = run("demo")
        self.assertEqual(result.returncode, 0)
        for algorithm in ALGORITHMS:
            self.assertIn(f"  {algorithm} ", result.stdout)
        self.assertIn("most in any 10 s: 20 (of 10)", result.stdout)
        self.assertEqual(result.stdout.count("most in any 10 s:"), len(ALGORITHMS))

    def test_fits_the_terminal(self):
        for limit in ("10/10s", "1/s", "100/m", "1000/h", "3/366d", "10/10s burst 2"):
            for line in run("demo", "--limit", limit).stdout.splitlines():
                self.assertLessEqual(len(line), 100, line)

    def test_json_agrees_with_the_decisions(self):
        demo = json.loads(run("demo", "--json").stdout)
        self.assertEqual((demo["limit"], demo["period_us"]), (10, 10_000_000))
        rows = {row["algorithm"]: row for row in demo["rows"]}
        self.assertEqual(set(rows), ALGORITHMS)
        for row in rows.values():
            passed = [r["at_us"] for r in row["requests"] if r["allowed"]]
            self.assertEqual(row["allowed"], len(passed))
            self.assertEqual(row["allowed"] + row["denied"], len(row["requests"]))
            most = max(sum(a <= b < a + demo["period_us"] for b in passed) for a in passed)
            self.assertEqual(row["max_in_any_period"], most)
        self.assertEqual(rows["fixed_window"]["max_in_any_period"], 20)
        self.assertEqual(rows["sliding_log"]["max_in_any_period"], 10)
        self.assertEqual(rows["sub_windows"]["max_in_any_period"], 10)
        self.assertLessEqual(rows["sliding_counter"]["max_in_any_period"], 19)

    def test_no_colour_in_a_pipe(self):
        self.assertNotIn("\x1b", run("demo").stdout)

    def test_colour_on_a_terminal(self):
        self.assertIn("\x1b[", run_on_terminal("demo", TERM="xterm"))

    def test_no_color_variable_disables_colour(self):
        self.assertNotIn("\x1b", run_on_terminal("demo", "--no-color", TERM="xterm"))
        self.assertNotIn("\x1b", run_on_terminal("demo", TERM="xterm", NO_COLOR="1"))
        self.assertNotIn("\x1b", run_on_terminal("demo", TERM="dumb"))
        self.assertNotIn("\x1b", run_on_terminal("demo", "--json", TERM="xterm"))

    def test_wrong_limits(self):
        self.assert_usage_error(run("demo", "--limit", "ten"), '"ten"', "a limit such as 100")
        self.assert_usage_error(run("demo", "--limit", "20000/s"), '"20000/s"', "10000")
        self.assert_usage_error(run("demo", "--limit", "5/s gcra"), '"5/s gcra"', "algorithm")


if __name__ == "__main__":
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f'PENSTOCK_PROGRAM "{PROGRAM}": expected the path of the built program')
    unittest.main()
