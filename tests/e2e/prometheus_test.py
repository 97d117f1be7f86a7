"""A real Prometheus scrapes a daemon's admin port, with the alerts of examples/ loaded."""

import shutil
import tempfile
import unittest
import urllib.parse
from pathlib import Path

from daemon import SOURCE_DIR, Daemon, ask, eventually
from redis_server import free_port
from server_process import ServerProcess, require

RULES = """
domains:
  shop:
    rules:
      - name: per "user"
        key: [user]
        limit: 2/hour
"""
ALERTS = SOURCE_DIR / "examples" / "prometheus" / "penstock-alerts.yaml"
SETTINGS = """
global: {{scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}}
rule_files: ["{alerts}"]
scrape_configs:
  - job_name: penstock
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("prometheus")
        cls.daemon = Daemon(RULES)
        cls.addClassCleanup(cls.daemon.close)
        folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        settings = folder / "prometheus.yml"
        settings.write_text(
            SETTINGS.format(alerts=ALERTS, port=cls.daemon.admin_port), encoding="utf-8"
        )
        cls.port = free_port()
        cls.server = ServerProcess(
            ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{cls.port}"],
            cls.port, folder,
        )
        cls.addClassCleanup(cls.server.close)

    def api(self, path, **arguments):
        target = f"/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        status, _, body = ask(self.port, "GET", target)
        return body["data"] if status == 200 else None

    def value(self, query):
        """Value of the only series that the query finds."""
        data = self.api("query", query=query)
        series = data["result"] if data else []
        return float(series[0]["value"][1]) if len(series) == 1 else None

    def test_finds_the_decisions(self):
        for _ in range(5):
            self.daemon.ask(
                "POST", "/v1/check", {"domain": "shop", "attributes": {"user": "alice"}}
            )
        for outcome, count in (("allowed", 2), ("denied", 3)):
            query = (
                'penstock_decisions_total{job="penstock",domain="shop",'
                f'rule="shop/per \\"user\\"",outcome="{outcome}"}}'
            )
            self.assertTrue(
                eventually(lambda q=query, n=count: self.value(q) == n), self.api("query", query=query)
            )

    def test_scrapes_every_metric(self):
        def target():
            data = self.api("targets")
            active = data["activeTargets"] if data else []
            return active[0] if active and active[0]["health"] != "unknown" else None

        self.assertTrue(eventually(target))
        self.assertEqual((target()["health"], target()["lastError"]), ("up", ""))
        self.assertTrue(eventually(lambda: self.value("penstock_build_info") == 1))

    def test_loads_and_evaluates_the_alerts_without_errors(self):
        def alerts():
            data = self.api("rules")
            return [rule for group in data["groups"] for rule in group["rules"]] if data else []

        self.assertTrue(
            eventually(lambda: alerts() and all(rule["health"] != "unknown" for rule in alerts()))
        )
        for rule in alerts():
            self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
            self.assertEqual(rule["alerts"], [], rule["name"])
        wanted = ALERTS.read_text(encoding="utf-8").count("- alert:")
        self.assertEqual(len(alerts()), wanted)
        for word in ("level=error", "level=warn"):
            self.assertNotIn(word, self.server.output)


if __name__ == "__main__":
    unittest.main()
