"""A real Prometheus with the alerts of examples/ and short intervals."""

import math
import shutil
import tempfile
import urllib.parse
from pathlib import Path

from daemon import ask
from prometheus_files import ALERTS
from redis_server import free_port
from server_process import ServerProcess

_SETTINGS = """
global: {{scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}}
rule_files: ["{alerts}"]
scrape_configs:
"""
_JOB = """
  - job_name: {name}
    static_configs: [{{targets: [{targets}]}}]
"""


class PrometheusServer:
    """`jobs` has the admin ports of each scrape job."""

    def __init__(self, jobs):
        self._folder = Path(tempfile.mkdtemp(prefix="penstock-e2e-"))
        settings = self._folder / "prometheus.yml"
        text = _SETTINGS.format(alerts=ALERTS)
        for name, ports in jobs.items():
            targets = ", ".join(f'"127.0.0.1:{port}"' for port in ports)
            text += _JOB.format(name=name, targets=targets)
        settings.write_text(text, encoding="utf-8")
        self._port = free_port()
        self._process = ServerProcess(
            ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={self._folder / 'data'}",
             f"--web.listen-address=127.0.0.1:{self._port}"],
            self._port, self._folder,
        )

    @property
    def output(self):
        return self._process.output

    def api(self, path, **arguments):
        target = f"/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        status, _, body = ask(self._port, "GET", target)
        if status == 503:  # Prometheus is starting
            return None
        if status != 200:
            raise AssertionError(f"{target}: {body}")
        return body["data"]

    def values(self, query):
        """Values of all series that the query finds, without NaN. Raises when Prometheus rejects the query."""
        data = self.api("query", query=query)
        found = [float(series["value"][1]) for series in data["result"]] if data else []
        return [value for value in found if not math.isnan(value)]

    def value(self, query):
        """Value of the only series that the query finds."""
        found = self.values(query)
        return found[0] if len(found) == 1 else None

    def targets(self):
        data = self.api("targets")
        return data["activeTargets"] if data else []

    def rules(self):
        data = self.api("rules")
        return [rule for group in data["groups"] for rule in group["rules"]] if data else []

    def active_alerts(self):
        """Alerts that are pending or firing."""
        return [alert for rule in self.rules() for alert in rule.get("alerts", [])]

    def close(self):
        self._process.close()
        shutil.rmtree(self._folder, ignore_errors=True)
