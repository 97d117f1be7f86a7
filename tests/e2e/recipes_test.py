"""README.md and the pages of docs/, carried out as they are written; the runner, which must notice wrong pages; and the
manifests of examples/kubernetes."""

import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from daemon import PROGRAM, SOURCE_DIR, Daemon
from npm_packages import INTEROP, install_packages
from recipe import Session
from recipe_page import WrongPage, read_page

try:
    import yaml
except ImportError:
    yaml = None

DOCS = SOURCE_DIR / "docs"
HOW_TO = DOCS / "how-to"
PARTS = ("tutorials", "how-to", "reference", "explanation")
# What the pages show and no machine for tests can carry out, with the reason that the page states.
NOT_RUN = {
    "README.md": ["builds, then starts the daemon of the setup above"],
    "docs/tutorials/first-limit.md": ["`make test` builds the program first"],
    "docs/how-to/envoy.md": [
        "Envoy has no Debian package; `make interop` runs both with Envoy 1.40",
        "printed by Envoy; `make interop` checks it",
        "names certificates of yours; tests/e2e/tls_test.py makes its own",
    ],
    "docs/how-to/incident.md": ["needs a remote host"],
    "docs/how-to/installation.md": [
        "needs root and systemd; tests/package/deb_test.py checks the packages",
        "needs a container engine",
        "`make test` builds the program; ctest -R package_ installs it",
    ],
    "docs/how-to/kubernetes.md": ["needs a cluster"],
    "docs/how-to/operations.md": [
        "tests/chaos/access_test.cpp compares this line with the rules that it tests",
        "a part of a Kubernetes manifest; examples/kubernetes has all of it",
    ],
    "docs/reference/redis-protocol.md": ["a fragment of a C program"],
}
# Skipped where these are missing. PHP and grpcurl are not among the packages of tools/deps.sh.
NEEDS = {"go", "grpcurl", "java", "nginx", "node", "npm:express-rate-limit", "npm:ioredis", "php", "python:redis"}


def pages():
    return [SOURCE_DIR / "README.md", *(path for part in PARTS for path in sorted((DOCS / part).glob("*.md")))]


def name_of(path):
    return path.relative_to(SOURCE_DIR).as_posix()


def setUpModule():
    if not os.access(PROGRAM, os.X_OK):
        raise RuntimeError(f"PENSTOCK_PROGRAM names no program: {PROGRAM!r}")


@functools.cache
def node_modules():
    """The npm packages that pages use; None where node or the registry is missing."""
    try:
        return install_packages(INTEROP / "pages") / "node_modules"
    except unittest.SkipTest:
        return None


def is_installed(what):
    """A program; a package of Python as python:NAME, or of node as npm:NAME."""
    if what.startswith("python:"):
        find = [sys.executable, "-c", f"import {what.removeprefix('python:')}"]
        return subprocess.run(find, capture_output=True, check=False).returncode == 0
    if what.startswith("npm:"):
        return node_modules() is not None and (node_modules() / what.removeprefix("npm:")).exists()
    return shutil.which(what) is not None


def carry_out(test, page):
    uses_node = any(block.needs.startswith("npm:") for block in page.blocks)
    session = Session(page, node_modules() if uses_node else None)
    try:
        for block in page.blocks:
            if block.not_run:
                continue
            if block.needs and not is_installed(block.needs):
                with test.subTest(line=block.line):
                    test.skipTest(f"{page.path.name}:{block.line} is not run: no {block.needs}")
            else:
                session.carry_out(block)
    except WrongPage as problem:
        raise WrongPage(f"{problem}\n{session.logs()}") from None
    finally:
        session.close()


class PagesTest(unittest.TestCase):
    """One test for each page."""

    def test_only_listed_commands_are_not_run(self):
        found = {}
        for path in pages():
            reasons = [block.not_run for block in read_page(path).blocks if block.not_run]
            if reasons:
                found[name_of(path)] = reasons
        self.assertEqual(found, NOT_RUN)

    def test_only_listed_programs_may_be_missing(self):
        needed = {block.needs for path in pages() for block in read_page(path).blocks if block.needs}
        self.assertEqual(needed, NEEDS)

    def test_the_index_lists_every_page(self):
        index = (DOCS / "README.md").read_text(encoding="utf-8")
        for path in pages()[1:]:
            self.assertIn(f"]({path.relative_to(DOCS).as_posix()})", index)


def test_of(path):
    def test(self):
        carry_out(self, read_page(path))

    return test


for _path in pages():
    _name = re.sub(r"\W", "_", name_of(_path).removeprefix("docs/").removesuffix(".md"))
    setattr(PagesTest, f"test_{_name}", test_of(_path))


README_ANSWERS = {"curl": "HTTP/1.1 200 OK\n…", "redis-cli": "0\n16\n15\n-1\n2"}
README_EXAMPLE = """
```sh
python3 -m http.server 3000 --bind 127.0.0.1 >application.log 2>&1 &
{daemon} &
```

```sh
{client}
```

```text
{answer}
```
"""


class ReadmeTest(unittest.TestCase):
    """The table of README.md: a command that starts the daemon, and a client. `make interop` runs Envoy's."""

    def test_the_examples_of_the_table_work(self):
        text = (SOURCE_DIR / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"`(penstock serve [^`]*)`<br>`([^`]*)`", text)
        self.assertEqual(len(rows), 4)
        for daemon, client in rows:
            program = client.split()[0]
            if program == "envoy":
                continue
            with self.subTest(client):
                example = README_EXAMPLE.format(daemon=daemon, client=client, answer=README_ANSWERS[program])
                carry_out(self, read_page(Path("README.md"), example))


def rows_of(page):
    """The cells of each table row that has figures and the command that prints them."""
    for line in (HOW_TO / page).read_text(encoding="utf-8").split("\n"):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and re.search(r"\d", cells[1]):
            yield cells


class FiguresTest(unittest.TestCase):
    """Figures of pages for planning are those of docs/explanation/performance.md."""

    performance = (SOURCE_DIR / "docs" / "explanation" / "performance.md").read_text(encoding="utf-8")

    def test_figures_are_measured(self):
        rows = [*rows_of("capacity-planning.md"), *rows_of("redis-sizing.md")]
        self.assertGreater(len(rows), 10)
        for name, micros, _, command in rows:
            for figure in re.findall(r"\d+\.\d+", micros):
                self.assertRegex(self.performance, rf"(?<![\d.]){re.escape(figure)}(?![\d])", name)
            for script in re.findall(r"bench/\w+\.sh", command):
                self.assertTrue((SOURCE_DIR / script).exists(), script)

    def test_rates_follow_from_processor_time(self):
        for name, micros, rates, _ in [*rows_of("capacity-planning.md"), *rows_of("redis-sizing.md")]:
            times = [float(text) for text in re.findall(r"\d+\.\d+", micros.partition(",")[0])]
            numbers = [int(text.replace(" ", "")) for text in re.findall(r"\d[\d ]*\d", rates)]
            for rate, time in zip(sorted(numbers), sorted(times, reverse=True)):
                self.assertAlmostEqual(rate * time / 1e6, 1, delta=0.03, msg=name)


RULES = """
`penstock.yaml`:

```yaml penstock.yaml
domains:
  api:
    rules:
      - {name: all, limit: 10/hour burst 2}
```
"""
START = """
```sh
penstock serve --config penstock.yaml &
```
"""
REQUEST = """
```sh
curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:8080/v1/check -d '{"domain":"api","attributes":{}}'
```
"""
ANSWER = """
```text
200
```
"""


class RunnerTest(unittest.TestCase):
    """Wrong pages fail."""

    def carry_out(self, text):
        carry_out(self, read_page(Path("page.md"), text))

    def assert_wrong(self, text, reason):
        with self.assertRaisesRegex(WrongPage, reason):
            self.carry_out(text)

    def test_a_right_page_passes(self):
        self.carry_out(RULES + START + REQUEST + ANSWER)

    def test_another_answer(self):
        self.assert_wrong(RULES + START + REQUEST + ANSWER.replace("200", "429"), r"-429\n\+200")

    def test_output_that_the_page_does_not_show(self):
        self.assert_wrong(RULES + START + REQUEST + ANSWER + "```sh\necho more\n```\n", "does not show")

    def test_more_output_than_the_page_shows(self):
        self.assert_wrong(RULES + START + REQUEST.replace("curl", "echo; curl") + ANSWER, "printed")

    def test_a_command_that_fails(self):
        self.assert_wrong(RULES + START + REQUEST + ANSWER + "```sh\nfalse\n```\n", "ends with 1, not 0")
        self.carry_out(RULES + START + REQUEST + ANSWER + "```sh exit-1\nfalse\n```\n")

    def test_a_command_that_does_not_exist(self):
        self.assert_wrong(RULES + START + REQUEST.replace("curl", "crul") + ANSWER + REQUEST + ANSWER, "not found")

    def test_a_configuration_with_an_error(self):
        self.assert_wrong(RULES.replace("hour", "huor") + START + REQUEST + ANSWER, "unknown unit")

    def test_a_configuration_with_a_warning(self):
        text = RULES.replace("name: all", "name: all, key: [clientip]")
        self.assert_wrong(text + START + REQUEST + ANSWER, "does not show this warning")

    def test_a_block_that_is_not_carried_out(self):
        for block in ("```json\n{}\n```\n", "```\nx\n```\n", "~~~\nx\n~~~\n", "  ```sh\n", "```sh\n"):
            self.assert_wrong(RULES + START + REQUEST + ANSWER + block, "page.md:")

    def test_a_file_that_no_command_uses(self):
        self.assert_wrong("`other.yaml`:\n```yaml other.yaml\na: 1\n```\n" + RULES + START + REQUEST + ANSWER, "no command uses")
        self.assert_wrong(RULES + START + REQUEST + ANSWER + RULES, "no command uses")

    def test_output_without_commands(self):
        self.assert_wrong(RULES + ANSWER + START + REQUEST + ANSWER, "not below commands")
        self.assert_wrong(RULES + START + REQUEST + ANSWER + ANSWER, "not below commands")

    def test_output_that_says_nothing(self):
        self.assert_wrong(RULES + START + REQUEST + ANSWER.replace("200", "…"), "says nothing")

    def test_output_that_never_comes(self):
        with unittest.mock.patch("recipe._READY_TIMEOUT", 2):
            text = "<!-- eventually: a test -->" + REQUEST + ANSWER
            self.carry_out(RULES + START + text)
            self.carry_out(RULES + START + text.replace("200", "429"))  # the third is
            self.assert_wrong(RULES + START + text.replace("200", "500"), r"-500\n\+429")

    def test_a_setup_runs_before_the_page(self):
        page = "<!-- setup: echo hello; name=7 -->\n```sh\necho $name\n```\n```text\n7\n```\n"
        self.carry_out(page)
        self.assert_wrong(page.replace("name=7", "name=8"), r"-7\n\+8")
        self.assert_wrong(page.replace("name=7", "false"), "ends with 1")

    def test_a_part_of_a_configuration_is_validated(self):
        part = "```yaml\n- {name: all, limit: 10/hour}\n```\n"
        self.carry_out(part)
        self.assert_wrong(part.replace("hour", "huor"), "unknown unit")
        self.assert_wrong("```yaml\nserver: {listne: 1}\n```\n", "listne")

    def test_text_that_is_no_output(self):
        text = "```sh\ntrue\n```\n<!-- not output -->\n```text\na drawing\n```\n"
        self.carry_out(text)
        self.assert_wrong(text.replace("<!-- not output -->", ""), r"-a drawing")

    def test_snippets_are_checked_elsewhere(self):
        self.carry_out("<!-- snippet: a.cpp#a -->\n```cpp\nint a;\n```\n")
        self.assert_wrong("```cpp\nint a;\n```\n", "neither commands nor a file")

    def test_a_page_without_a_request(self):
        self.assert_wrong(RULES + START, "no request with its answer")
        self.assert_wrong(RULES + REQUEST + ANSWER + "```sh\ncat penstock.yaml\n```\n", "no command starts the daemon")

    def test_a_port_that_could_be_in_use(self):
        self.assert_wrong(RULES + START + REQUEST.replace("8080", "8099") + ANSWER, "port 8099")


@unittest.skipIf(yaml is None, "python3-yaml is not installed")
class KubernetesTest(unittest.TestCase):
    """The manifests fit each other and the settings of the daemon."""

    @classmethod
    def setUpClass(cls):
        cls.manifests = {}
        for path in sorted((SOURCE_DIR / "examples" / "kubernetes").glob("*.yaml")):
            for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8")):
                cls.manifests[manifest["kind"]] = manifest
        cls.pod = cls.manifests["Deployment"]["spec"]["template"]
        (cls.container,) = cls.pod["spec"]["containers"]
        cls.text = cls.manifests["ConfigMap"]["data"]["penstock.yaml"]
        cls.settings = yaml.safe_load(cls.text)

    def test_the_configuration_is_valid_with_the_mounted_secrets(self):
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        with tempfile.TemporaryDirectory() as folder:
            for name, value in self.manifests["Secret"]["stringData"].items():
                Path(folder, name).write_text(value + "\n", encoding="utf-8")
            configuration = Path(folder, "penstock.yaml")
            configuration.write_text(self.text.replace(mounts["secrets"], folder), encoding="utf-8")
            result = subprocess.run([PROGRAM, "validate", "--strict", configuration], capture_output=True,
                                    encoding="utf-8", check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn(f"{mounts['config']}/penstock.yaml", self.container["args"])

    def test_ports_and_labels_agree(self):
        ports = {port["name"]: port["containerPort"] for port in self.container["ports"]}
        server = self.settings["server"]
        self.assertEqual(server["listen"], f"0.0.0.0:{ports['http']}")
        self.assertEqual(server["admin"], f"0.0.0.0:{ports['admin']}")
        for probe in ("readinessProbe", "livenessProbe"):
            self.assertEqual(self.container[probe]["httpGet"]["port"], "admin")
        for port in self.manifests["Service"]["spec"]["ports"]:
            self.assertIn(port["targetPort"], ports)
        for rule in self.manifests["NetworkPolicy"]["spec"]["ingress"]:
            for port in rule["ports"]:
                self.assertIn(port["port"], ports)
        labels = self.pod["metadata"]["labels"]
        self.assertEqual(self.manifests["Service"]["spec"]["selector"], labels)
        for kind in ("Deployment", "PodDisruptionBudget"):
            self.assertEqual(self.manifests[kind]["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(self.manifests["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"], labels)

    def test_a_pod_has_the_time_to_stop(self):
        server = self.settings["server"]
        needed = sum(int(server[name].removesuffix("s")) for name in ("shutdown_delay", "shutdown_grace"))
        self.assertGreater(self.pod["spec"]["terminationGracePeriodSeconds"], needed)

    def test_a_changed_config_map_is_reloaded(self):
        """Kubernetes writes a new folder, and replaces the symbolic link ..data."""
        rules = "domains: {{default: {{rules: [{{name: all, limit: {limit}/hour}}]}}}}\n"
        with tempfile.TemporaryDirectory() as folder:
            volume = Path(folder)

            def publish(name, limit):
                (volume / name).mkdir()
                (volume / name / "rules.yaml").write_text(rules.format(limit=limit), encoding="utf-8")
                (volume / "..new").symlink_to(name)
                os.replace(volume / "..new", volume / "..data")

            publish("..first", 10)
            (volume / "rules.yaml").symlink_to("..data/rules.yaml")
            options = ("--config", str(volume / "rules.yaml"), "--shutdown-delay", "0s")
            with Daemon("log: {level: info}\n", options=options) as daemon:
                publish("..second", 20)
                daemon.wait_for_output("the configuration was reloaded")
                fields = daemon.ask("GET", "/v1/forward-auth").fields
                self.assertEqual(fields["x-ratelimit-limit"], "20")


if __name__ == "__main__":
    unittest.main()
