"""The Containerfile, checked without building it: its files, packages and commands exist, and its health check
distinguishes a running daemon from a stopped one. The program is named by PENSTOCK_PROGRAM."""

import fnmatch
import json
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE_DIR = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE_DIR / "tests" / "e2e"))

from daemon import PROGRAM, Daemon  # noqa: E402
from redis_server import free_port  # noqa: E402

RULES = "domains: {default: {rules: [{name: all, limit: 5/m}]}}\n"


def instructions():
    """(word, rest) of each instruction, continued lines joined."""
    text = (SOURCE_DIR / "Containerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.M).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def command(word):
    """The words of the last CMD, ENTRYPOINT or HEALTHCHECK."""
    rest = [rest for each, rest in instructions() if each == word][-1]
    return json.loads(rest[rest.index("["):])


def ignored(path):
    patterns = [
        line for line in (SOURCE_DIR / ".containerignore").read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    return any(fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path.split("/")[0], pattern)
               for pattern in patterns)


def make_dry_run(target):
    return subprocess.run(["make", "-n", target, "PENSTOCK_SKIP_DEPS=1"], cwd=SOURCE_DIR, capture_output=True,
                          encoding="utf-8", timeout=60, check=True).stdout


class ContainerfileTest(unittest.TestCase):
    def test_copied_files_exist(self):
        for word, rest in instructions():
            if word != "COPY" or rest.startswith("--from"):
                continue
            for source in rest.split()[:-1]:
                self.assertTrue((SOURCE_DIR / source).exists(), source)
                self.assertFalse(ignored(source), source)

    def test_local_build_output_is_ignored(self):
        for path in ("build/release/penstock", ".git/config"):
            self.assertTrue(ignored(path), path)
        for path in ("src/base", "packaging/penstock.service", "Makefile", "CMakePresets.json"):
            self.assertFalse(ignored(path), path)

    def test_it_copies_the_package_from_the_path_of_make(self):
        copied = next(rest for word, rest in instructions() if word == "COPY" and rest.startswith("--from"))
        self.assertIn("/source/build/packages/", copied)
        self.assertIn("-B build/packages", make_dry_run("package"))

    def test_packages_exist(self):
        if shutil.which("apt-cache") is None:
            self.skipTest("apt-cache is not installed")
        text = " ".join(rest for word, rest in instructions() if word == "RUN")
        wanted = re.findall(r"apt-get install ([^&]*)", text)
        names = [word for each in wanted for word in each.split() if not word.startswith(("-", "/"))]
        self.assertIn("ca-certificates", names)
        for name in names:
            shown = subprocess.run(["apt-cache", "show", name], capture_output=True, timeout=60, check=False)
            self.assertEqual(shown.returncode, 0, name)

    def test_it_does_not_run_as_root(self):
        final = instructions()[max(i for i, (word, _) in enumerate(instructions()) if word == "FROM"):]
        self.assertIn(("USER", "penstock"), final)
        user = (SOURCE_DIR / "packaging/penstock.sysusers").read_text(encoding="utf-8")
        self.assertRegex(user, r"(?m)^u penstock ")

    def test_the_health_check_requests_readyz(self):
        check = command("HEALTHCHECK")
        self.assertEqual(check[0], "penstock")

        def healthy(port):
            admin = ["--admin", f"http://127.0.0.1:{port}"]
            return subprocess.run([PROGRAM, *check[1:], *admin], capture_output=True, timeout=30,
                                  check=False).returncode == 0

        with Daemon(RULES) as daemon:
            self.assertTrue(healthy(daemon.admin_port))
        self.assertFalse(healthy(free_port()))

    def test_the_command_and_its_options_exist(self):
        self.assertEqual(command("ENTRYPOINT"), ["penstock"])
        words = command("CMD")
        shown = subprocess.run([PROGRAM, words[0], "--help"], capture_output=True, encoding="utf-8", timeout=30,
                               check=True).stdout
        for option in (word for word in words if word.startswith("--")):
            self.assertIn(option + " ", shown)
        package = (SOURCE_DIR / "cmake/PenstockPackage.cmake").read_text(encoding="utf-8")
        self.assertIn("/etc/penstock/penstock.yaml", words)
        self.assertIn('install(FILES "${packaging}/penstock.yaml" DESTINATION /etc/penstock ', package)


if __name__ == "__main__":
    unittest.main()
