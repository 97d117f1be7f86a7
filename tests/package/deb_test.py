"""The Debian packages of this build: their contents, and that the packaged program starts with the packaged
configuration. BUILD_DIR is in PENSTOCK_BUILD_DIR. Nothing is installed."""

import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE_DIR = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE_DIR / "tests" / "e2e"))

import daemon  # noqa: E402

BUILD_DIR = Path(os.environ.get("PENSTOCK_BUILD_DIR", SOURCE_DIR / "build" / "release"))
PROGRAMS = ("/usr/bin/penstock", "/usr/bin/penstock-bench")


def run(*command, **options):
    result = subprocess.run(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        encoding="utf-8", timeout=120, check=False, **options,
    )
    return result.returncode, result.stdout


def require(program):
    if shutil.which(program) is None:
        raise unittest.SkipTest(f"{program} is not installed")


def setUpModule():
    for program in ("cpack", "dpkg-deb", "dpkg-shlibdeps"):
        require(program)
    folder = Path(tempfile.mkdtemp(prefix="penstock-deb-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    # Fast compression; the contents are the same.
    code, text = run("cpack", "--config", BUILD_DIR / "CPackConfig.cmake", "-B", folder,
                     "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip")
    if code != 0:
        raise RuntimeError(text)
    Package.all = {path.name.partition("_")[0]: Package(path) for path in folder.glob("*.deb")}


class Package:
    all = {}

    def __init__(self, path):
        self.path = path
        self.root = path.with_suffix("")  # where it is unpacked
        for option, target in (("-x", self.root), ("-e", self.root / "DEBIAN")):
            code, text = run("dpkg-deb", option, path, target)
            if code != 0:
                raise RuntimeError(text)

    def field(self, name):
        return run("dpkg-deb", "-f", self.path, name)[1].strip()

    def files(self):
        """Mode and owner of everything in it, by path."""
        lines = run("dpkg-deb", "-c", self.path)[1].splitlines()
        return {line.split()[5].lstrip("."): tuple(line.split()[:2]) for line in lines}


class ContentTest(unittest.TestCase):
    def test_there_are_a_runtime_and_a_development_package(self):
        self.assertEqual(set(Package.all), {"penstock", "penstock-dev"})

    def test_the_runtime_package_is_complete_and_has_no_development_files(self):
        files = Package.all["penstock"].files()
        for path in (*PROGRAMS, "/etc/penstock/penstock.yaml", "/lib/systemd/system/penstock.service",
                     "/usr/lib/sysusers.d/penstock.conf", "/usr/share/man/man1/penstock.1.gz",
                     "/usr/share/man/man1/penstock-bench.1.gz",
                     "/usr/share/bash-completion/completions/penstock",
                     "/usr/share/zsh/vendor-completions/_penstock",
                     "/usr/share/fish/vendor_completions.d/penstock.fish",
                     "/usr/share/doc/penstock/docs/images/architecture.svg",
                     "/usr/share/doc/penstock/copyright", "/usr/share/doc/penstock/docs/tutorials/first-limit.md",
                     "/usr/share/doc/penstock/docs/how-to/api-key-tiers.md",
                     "/usr/share/doc/penstock/examples/penstock.yaml",
                     "/usr/share/doc/penstock/examples/nginx/nginx.conf"):
            self.assertIn(path, files)
        self.assertFalse([path for path in files if path.endswith((".hpp", ".a", ".cpp", ".cmake"))])

    def test_the_library_is_in_the_development_package(self):
        files = Package.all["penstock-dev"].files()
        for path in ("/usr/include/penstock/penstock.hpp", "/usr/lib/pkgconfig/penstock.pc",
                     "/usr/share/doc/penstock-dev/examples/first_use.cpp"):
            self.assertIn(path, files)
        self.assertTrue([path for path in files if path.endswith("libpenstock.a")])
        self.assertFalse([path for path in files if path.startswith(("/usr/bin", "/etc"))])

    def test_only_root_can_write_the_files(self):
        for package in Package.all.values():
            for path, (mode, owner) in package.files().items():
                self.assertEqual(owner, "root/root", path)
                self.assertNotIn("w", mode[4:], path)
                if path == "/etc/penstock/penstock.yaml":
                    self.assertEqual(mode, "-rw-r-----", "it may hold passwords")
                elif not mode.startswith("d") and path not in PROGRAMS:
                    self.assertEqual(mode, "-rw-r--r--", path)

    def test_the_configuration_is_for_root_and_the_service_only(self):
        script = Package.all["penstock"].root / "DEBIAN" / "postinst"
        for owner, wanted in (("root:root", ["root:penstock"]), ("root:ops", [])):
            with tempfile.TemporaryDirectory() as folder:
                root, tools, log = Path(folder, "root"), Path(folder, "tools"), Path(folder, "log")
                configuration = root / "etc/penstock/penstock.yaml"
                configuration.parent.mkdir(parents=True)
                configuration.write_text("server: {}\n", encoding="utf-8")
                configuration.chmod(0o644)
                tools.mkdir()
                log.write_text("", encoding="utf-8")
                for name, does in (("systemd-sysusers", "true"), ("systemctl", "true"), ("stat", f"echo {owner}"),
                                   ("dpkg-statoverride", "false"), ("chown", f'echo "$1" >> {log}')):
                    (tools / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
                    (tools / name).chmod(0o755)
                code, text = run("sh", script, "configure", "", env={"PATH": f"{tools}:{os.environ['PATH']}",
                                                                    "DPKG_ROOT": str(root)})
                self.assertEqual(code, 0, text)
                self.assertEqual(log.read_text(encoding="utf-8").split(), wanted)
                self.assertEqual(configuration.stat().st_mode & 0o777, 0o640 if wanted else 0o644)

    def test_depends_on_the_libraries_it_was_linked_with(self):
        depends = Package.all["penstock"].field("Depends")
        for library in ("libc6", "libssl3", "libhiredis", "libyaml-cpp", "libre2"):
            self.assertIn(library, depends)
        self.assertNotIn("-dev", depends)
        self.assertIn("libssl-dev", Package.all["penstock-dev"].field("Depends"))

    def test_an_upgrade_keeps_the_configuration(self):
        conffiles = (Package.all["penstock"].root / "DEBIAN" / "conffiles").read_text(encoding="utf-8")
        self.assertEqual(conffiles.split(), ["/etc/penstock/penstock.yaml"])

    def test_maintainer_scripts_are_valid_shell(self):
        for name in ("postinst", "prerm", "postrm"):
            script = Package.all["penstock"].root / "DEBIAN" / name
            self.assertEqual(run("sh", "-n", script), (0, ""))

    def test_versions_agree(self):
        version = Package.all["penstock"].field("Version")
        self.assertEqual(Package.all["penstock-dev"].field("Version"), version)
        changelog = gzip.decompress(
            (Package.all["penstock"].root / "usr/share/doc/penstock/changelog.gz").read_bytes()
        ).decode()
        self.assertTrue(changelog.startswith(f"penstock ({version}) "), changelog)

    def test_lintian_finds_no_error(self):
        require("lintian")
        packages = [package.path for package in Package.all.values()]
        code, text = run("lintian", "--allow-root", "--fail-on", "error", *packages)
        self.assertEqual(code, 0, text)


class ServiceTest(unittest.TestCase):
    def setUp(self):
        require("systemd-analyze")
        self.root = Package.all["penstock"].root
        self.unit = self.root / "lib/systemd/system/penstock.service"

    def test_systemd_understands_the_unit(self):
        # The installed path of the program does not exist here.
        unit = Path(tempfile.mkdtemp(dir=self.root)) / "penstock.service"
        text = self.unit.read_text(encoding="utf-8")
        program = self.root / "usr/bin/penstock"
        self.assertIn("ExecStart=/usr/bin/penstock serve --config /etc/penstock/penstock.yaml\n", text)
        unit.write_text(text.replace("/usr/bin/penstock", str(program)), encoding="utf-8")
        code, said = run("systemd-analyze", "verify", "--man=no", unit)
        self.assertEqual((code, said), (0, ""))

    def test_the_unit_is_sandboxed(self):
        code, said = run("systemd-analyze", "security", "--offline=true", "--threshold=20", self.unit)
        if "Unknown" in said or "unrecognized" in said:
            raise unittest.SkipTest("systemd is too old to say")
        self.assertEqual(code, 0, said[-2000:])


    def test_systemd_creates_the_user(self):
        require("systemd-sysusers")
        folder = Path(tempfile.mkdtemp(dir=self.root))
        target = folder / "usr/lib/sysusers.d"
        target.mkdir(parents=True)
        shutil.copy(self.root / "usr/lib/sysusers.d/penstock.conf", target)
        (folder / "etc").mkdir()
        code, said = run("systemd-sysusers", f"--root={folder}", "penstock.conf")
        self.assertEqual(code, 0, said)
        users = (folder / "etc/passwd").read_text(encoding="utf-8")
        self.assertRegex(users, r"(?m)^penstock:.*:/usr/sbin/nologin$")

    def allowed_calls(self, words):
        """The system calls that a SystemCallFilter= of these words names."""
        calls = set()
        for word in words:
            if not word.startswith("@"):
                calls.add(word)
                continue
            code, said = run("systemd-analyze", "syscall-filter", word)
            self.assertEqual(code, 0, said)
            listed = [line.strip() for line in said.splitlines()[1:]]
            calls |= self.allowed_calls([line for line in listed if line and not line.startswith("#")])
        return calls

    def test_the_daemon_makes_no_call_that_the_unit_forbids(self):
        require("strace")
        text = self.unit.read_text(encoding="utf-8")
        filters = re.findall(r"(?m)^SystemCallFilter=(.*)$", text)
        allowed = self.allowed_calls(" ".join(f for f in filters if not f.startswith("~")).split())
        for each in (f[1:] for f in filters if f.startswith("~")):
            allowed -= self.allowed_calls(each.split())
        folder = Path(tempfile.mkdtemp(dir=self.root))
        trace, wrapper = folder / "trace", folder / "penstock"
        wrapper.write_text(f'#!/bin/sh\nexec strace -D -f -qq -o {trace} {self.root}/usr/bin/penstock "$@"\n',
                           encoding="utf-8")
        wrapper.chmod(0o755)
        daemon.PROGRAM = str(wrapper)
        rules = (self.root / "etc/penstock/penstock.yaml").read_text(encoding="utf-8")
        rules += "\ngrpc: {listen: '127.0.0.1:0'}\nstore: {url: 'redis://localhost:1'}\n"
        with daemon.Daemon(rules) as served:
            self.assertEqual(served.ask("GET", "/v1/forward-auth").status, 200)
            self.assertEqual(served.admin("/metrics").status, 200)
            served.signal(daemon.signal.SIGHUP)
            served.wait_for_output("the configuration was reloaded")
            served.signal(daemon.signal.SIGTERM)
            self.assertEqual(served.wait(), 0)
        made = set(re.findall(r"(?m)^\d+ +(\w+)\(", trace.read_text(encoding="utf-8", errors="replace")))
        self.assertIn("epoll_wait", made)
        self.assertEqual(made - allowed, set())


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.root = Package.all["penstock"].root
        self.program = self.root / "usr/bin/penstock"

    def test_the_manuals_have_every_subcommand(self):
        for program, known in (("penstock", "serve"), ("penstock-bench", "http")):
            page = self.root / f"usr/share/man/man1/{program}.1.gz"
            manual = gzip.decompress(page.read_bytes()).decode()
            _, text = run(self.root / "usr/bin" / program, "--help")
            listed = re.findall(r"^  (\w+) {3,}", text.partition("Subcommands:")[2].partition("Examples:")[0], re.M)
            self.assertIn(known, listed)
            for name in listed:
                self.assertRegex(manual, rf"\.BI? {name}\b")

    def test_the_program_starts_the_load_generator_of_the_package(self):
        code, text = run(self.program, "bench", "store", "--checks", "1000", "--json")
        self.assertEqual(code, 0, text)

    def test_the_packaged_files_are_valid(self):
        examples = self.root / "usr/share/doc/penstock/examples"
        for path in (self.root / "etc/penstock/penstock.yaml", examples / "penstock.yaml",
                     examples / "quickstart.yaml"):
            code, text = run(self.program, "validate", path)
            self.assertEqual(code, 0, text)

    def test_it_serves_with_the_packaged_configuration(self):
        configuration = (self.root / "etc/penstock/penstock.yaml").read_text(encoding="utf-8")
        daemon.PROGRAM = str(self.program)
        with daemon.Daemon(configuration) as served:
            self.assertEqual(served.admin("/healthz").status, 200)
            headers = {"X-Forwarded-Uri": "/login", "X-Forwarded-For": "203.0.113.7"}
            statuses = [served.ask("GET", "/v1/forward-auth", headers=headers).status for _ in range(6)]
            self.assertEqual(statuses, [200] * 5 + [429])
            served.signal(daemon.signal.SIGTERM)
            self.assertEqual(served.wait(), 0)


if __name__ == "__main__":
    unittest.main()
