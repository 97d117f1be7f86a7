"""Shell completion and the manual page, both generated from the definition of the commands. The program is named by
PENSTOCK_PROGRAM."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ.get("PENSTOCK_PROGRAM", "")
SOURCE_DIR = Path(__file__).resolve().parents[2]
SHELLS = ("bash", "zsh", "fish")


def run(*arguments, **more):
    return subprocess.run([*arguments], capture_output=True, encoding="utf-8", timeout=60, check=False, **more)


def script(shell):
    result = run(PROGRAM, "completion", shell)
    assert (result.returncode, result.stderr) == (0, ""), result
    return result.stdout


def commands():
    text = run(PROGRAM, "--help").stdout.partition("Subcommands:\n")[2].partition("\n\n")[0]
    return [line.split()[0] for line in text.splitlines() if line[2:3] != " "]


class BashTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        Path(cls.folder.name, "penstock.bash").write_text(script("bash"), encoding="utf-8")
        for name in ("a.yaml", "b c.yaml"):
            Path(cls.folder.name, name).write_text("", encoding="utf-8")

    def complete(self, *words):
        """What bash offers for the last of these words after `penstock`."""
        all_words = ["penstock", *words]
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in all_words)
        code = f"source ./penstock.bash; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _penstock; " \
               'printf "%s\\n" "${COMPREPLY[@]}"'
        result = run("bash", "--norc", "-c", code, cwd=self.folder.name)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result)
        return [line for line in result.stdout.splitlines() if line]

    def test_commands(self):
        self.assertEqual(self.complete(""), commands())
        self.assertEqual(self.complete("un"), ["unblock"])
        self.assertIn("--version", self.complete("--"))

    def test_options_of_each_command(self):
        for command in commands():
            if command in ("bench", "verify"):  # their options are those of penstock-bench
                continue
            text = run(PROGRAM, command, "--help").stdout.partition("Options:\n")[2].partition("\n\n")[0]
            known = set(re.findall(r"^  (?:-\w,)?(--[\w-]+)", text, re.M))
            self.assertEqual({word for word in self.complete(command, "--")}, known, command)

    def test_listed_values(self):
        self.assertEqual(self.complete("init", "--kind", ""), ["api", "login", "llm", "gateway"])
        self.assertEqual(self.complete("init", "--kind", "l"), ["login", "llm"])
        self.assertEqual(self.complete("init", "--kind", "=", "g"), ["gateway"])
        self.assertEqual(self.complete("completion", ""), list(SHELLS))
        self.assertEqual(self.complete("top", "--by", "d"), ["denied"])

    def test_commands_of_a_command(self):
        self.assertEqual(self.complete("override", ""), ["set", "list", "remove"])
        self.assertEqual(self.complete("override", "set", "--m"), ["--multiply"])
        self.assertNotIn("--multiply", self.complete("override", "remove", "--"))
        self.assertEqual(self.complete("override", "set", "api/search", "--limit", ""), [])

    def test_files(self):
        everything = ["a.yaml", "b c.yaml", "penstock.bash"]
        self.assertEqual(sorted(self.complete("validate", "")), everything)
        self.assertEqual(sorted(self.complete("serve", "--config", "")), everything)
        self.assertEqual(self.complete("serve", "--config", "b"), ["b c.yaml"])

    def test_other_values_have_no_suggestions(self):
        self.assertEqual(self.complete("check", "alice", "--limit", ""), [])
        self.assertEqual(self.complete("check", ""), [])

    def test_it_is_registered_for_penstock(self):
        result = run("bash", "--norc", "-c", "source ./penstock.bash; complete -p penstock", cwd=self.folder.name)
        self.assertEqual(result.stdout, "complete -F _penstock penstock\n")


class ScriptTest(unittest.TestCase):
    def test_every_shell_has_every_command_and_no_hidden_one(self):
        for shell in SHELLS:
            text = script(shell)
            for command in commands():
                self.assertRegex(text, rf"\b{command}\b", shell)
            self.assertNotRegex(text, r"\bmanual\b(?! page)", shell)

    def test_the_syntax_is_valid(self):
        for shell in SHELLS:
            if shutil.which(shell) is None:
                continue
            result = run(shell, "-n", "-c" if shell != "bash" else "/dev/stdin", *([script(shell)] if shell != "bash" else []),
                         input=script(shell))
            self.assertEqual((result.returncode, result.stderr), (0, ""), shell)

    def test_an_unknown_shell_is_an_error(self):
        result = run(PROGRAM, "completion", "tcsh")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn('"tcsh": expected bash|zsh|fish', result.stderr)


class ManualTest(unittest.TestCase):
    def test_the_manual_page_is_up_to_date(self):
        page = (SOURCE_DIR / "packaging/penstock.1").read_text(encoding="utf-8")
        self.assertEqual(page, run(PROGRAM, "manual").stdout, "`make manual` updates it")

    def test_it_has_every_command_and_option(self):
        page = run(PROGRAM, "manual").stdout.replace("\\-", "-")
        for command in commands():
            self.assertRegex(page, rf"(?m)^\.B {command}\b")
            for option in re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(PROGRAM, command, "--help").stdout, re.M):
                if command not in ("bench", "verify"):
                    self.assertIn(option, page)

    @unittest.skipUnless(shutil.which("groff"), "needs groff")
    def test_groff_has_no_warnings(self):
        result = run("groff", "-man", "-ww", "-Tutf8", "-rLL=100n", input=run(PROGRAM, "manual").stdout)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("penstock - distributed rate limiter", result.stdout.replace("‐", "-"))


if __name__ == "__main__":
    unittest.main()
