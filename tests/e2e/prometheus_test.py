"""Every expression of the alerts and of the dashboard of examples/prometheus, evaluated by a real Prometheus that scrapes
two nodes with a Redis and a gateway, and a node with the memory store: first healthy, then with faults."""

import contextlib
import http.client
import json
import resource
import signal
import socket
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from daemon import Daemon, ask, eventually
from prometheus_files import (
    alerts, dashboard, expressions, label_queries, rules, with_values, without_thresholds,
)
from prometheus_server import PrometheusServer
from redis_server import RedisServer
from server_process import require

SHARED = """
server: {{workers: 1}}
store: {{url: '{redis}', timeout: 1s, breaker_failures: 2, breaker_max_pause: 200ms, audit_interval: 1s}}
gateway:
  listen: 127.0.0.1:0
  domain: web
  max_in_flight: {{limit: 1, shared: true}}
  upstreams:
    app: {{servers: ['http://127.0.0.1:{app}', 'http://127.0.0.1:{spare}'], health: {health}}}
    files: {{servers: ['http://127.0.0.1:{files}'], health: {health}}}
  routes: [{{path: /files/**, upstream: files}}, {{upstream: app}}]
domains:
  web: {{rules: [{{name: per-client, key: [client_ip], limit: 1000000/hour}}]}}
  open: {{rules: [{{name: per-user, key: [user], limit: 1/hour}}]}}
  closed: {{on_failure: closed, rules: [{{name: all, limit: 1000000/hour}}]}}
  local: {{on_failure: local, rules: [{{name: all, limit: 1000000/hour, algorithm: anchored_window}}]}}
  hot: {{mode: lease, lease_lifetime: 1s, rules: [{{name: all, limit: 10000/s}}]}}
  trial: {{rules: [{{name: "new \\"rule\\"", key: [user], limit: 1/hour, shadow: true}}]}}
"""
HEALTH = "{path: /, interval: 200ms, unhealthy: 1}"
MEMORY = """
server: {workers: 1}
store: {max_keys: 1000}
unknown_domain: deny
domains:
  memory: {rules: [{name: per-user, key: [user], limit: 1/hour}]}
  rollout: {rules: [{name: per-user, key: [user], limit: 1/hour, enforce: 100%, abort: {denied_above: 50%}}]}
"""
VALUES = {"job": ".*", "instance": ".*", "domain": ".*", "rule": ".*", "__rate_interval": "10s"}
# Panels without data until there is an outage.
OUTAGE_PANELS = {"Decided without the store"}
# Alerts that this test does not cause; promtool sees them firing (penstock-alerts-test.yaml).
NOT_CAUSED = {
    "PenstockOutageUnitsLost": "a connection would have to break while a report is sent",
    "PenstockOutageUnreconciled": "reports are sent within seconds after Redis is back",
}
# Alerts that the load of this machine can cause.
LOAD = {"PenstockStoreSlow"}


class Application(ThreadingHTTPServer):
    """An upstream server. /slow takes long enough that requests overlap."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            time.sleep(0.3 if self.path == "/slow" else 0)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()


class Traffic:
    """Sends requests to the nodes in the background, one in ten denied in each domain."""

    def __init__(self, nodes, memory):
        self._nodes = nodes
        self._memory = memory
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(node,)) for node in [*nodes, memory]]
        for thread in self._threads:
            thread.start()

    def _run(self, node):
        count = 0
        while not self._is_over.wait(0.05):
            count += 1
            try:
                if node is self._memory:
                    self._check(node, "memory", count)
                else:
                    self._round(node, count)
            except (OSError, http.client.HTTPException):
                time.sleep(0.1)  # the node was stopped

    def _round(self, node, count):
        for domain in ("open", "trial", "closed", "local"):
            self._check(node, domain, count)
        check_many(node, "hot", range(10))
        ask(node.gateway_port, "GET", "/files/a")
        if count % 10 == 0:
            slow = [threading.Thread(target=ask, args=(node.gateway_port, "GET", "/slow")) for _ in range(2)]
            for thread in slow:
                thread.start()
            for thread in slow:
                thread.join()

    def _check(self, node, domain, count):
        user = "again" if count % 10 == 0 else f"{node.port}-{count}"
        check(node, domain, user)

    def close(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join()


def check(node, domain, user):
    return node.ask("POST", "/v1/check", {"domain": domain, "attributes": {"user": user}})


def check_many(node, domain, users):
    """Checks over one connection."""
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", node.port, timeout=20)) as connection:
        for user in users:
            body = json.dumps({"domain": domain, "attributes": {"user": str(user)}})
            connection.request("POST", "/v1/check", body)
            connection.getresponse().read()


class Scene:
    """The servers of this test, and the faults that it causes."""

    def __init__(self, add_cleanup):
        def started(server):
            add_cleanup(server.close)
            return server

        self.add_cleanup = add_cleanup
        self.redis = started(RedisServer())
        add_cleanup(self.redis.signal, signal.SIGCONT)
        self.applications = [Application() for _ in range(3)]
        app, spare, files = (application.port for application in self.applications)
        self.text = SHARED.format(redis=self.redis.url, app=app, spare=spare, files=files, health=HEALTH)
        self.nodes = [started(Daemon(self.text)) for _ in range(2)]
        for node in self.nodes:
            node.gateway_port = int(node.output.split("listening on http://127.0.0.1:")[2].split()[0])
        self.memory = started(Daemon(MEMORY))
        self.prometheus = started(PrometheusServer({
            "penstock": [node.admin_port for node in self.nodes], "memory": [self.memory.admin_port],
        }))
        started(Traffic(self.nodes, self.memory))

    def cause_faults(self):
        """Everything but the outage."""
        first, second = self.nodes
        self.applications[1].close()  # one of two servers
        self.applications[2].close()  # the only server of `files`
        second.configuration.write_text(self.text + "nodes: 5\n", encoding="utf-8")
        eventually(lambda: second.metric("penstock_nodes") == 5)
        first.configuration.write_text("domains: [\n", encoding="utf-8")
        check_many(self.memory, "rollout", ["again"] * 200)
        check_many(self.memory, "memory", range(2000))
        check_many(self.memory, "memory", ["again"] * 2000)
        check_many(self.memory, "typo", ["a"] * 10)
        check_many(first, "typo", ["a"] * 10)
        self.redis.call("SET", "penstock:1:x:{orphan}", "1")
        for count in range(15):
            self.redis.call("SCRIPT", "FLUSH")
            check(first, "open", f"flush-{count}")
        self._limit_descriptors(self.memory)

    def _limit_descriptors(self, node):
        """Opens connections, and leaves two free file descriptors."""
        for _ in range(40):
            self.add_cleanup(socket.create_connection(("127.0.0.1", node.port)).close)
        eventually(lambda: node.metric("penstock_listener_connections") >= 40)
        _, most = resource.prlimit(node.pid, resource.RLIMIT_NOFILE)
        in_use = int(node.metric("process_open_fds"))
        resource.prlimit(node.pid, resource.RLIMIT_NOFILE, (in_use + 2, most))

    def slow_redis_down(self):
        """Calls wait for up to 20 ms."""
        for _ in range(30):
            self.redis.signal(signal.SIGSTOP)
            time.sleep(0.02)
            self.redis.signal(signal.SIGCONT)
            time.sleep(0.01)

    def stop_redis(self):
        self.redis.signal(signal.SIGSTOP)

    def continue_redis(self):
        self.redis.signal(signal.SIGCONT)


class Findings:
    """What Prometheus shows in the scene: healthy, then with faults, then after they end."""

    def __init__(self, scene):
        self._scene = scene
        self._prometheus = scene.prometheus
        self.caused = {}  # alerts by name
        self._expected = {alert["alert"] for alert in alerts()} - set(NOT_CAUSED)
        self.missing_targets = self._wait_for_targets()
        scene.nodes[0].signal(signal.SIGHUP)  # for the annotation
        self.without_data = self._wait_for_data(OUTAGE_PANELS, wanted=False)
        self.rules_without_data = [
            rule for rule in rules() if rule.get("alert") in {None, *NOT_CAUSED}
            and not self._prometheus.values(without_thresholds(rule["expr"]))
        ]
        self.label_values = {
            query.variable: self._prometheus.api(
                f"label/{query.label}/values", **{"match[]": with_values(query.selector, VALUES)})
            for query in label_queries(dashboard())
        }
        self.alerts_when_healthy = self._wait_for_quiet()
        self._observe_faults()

    def _wait_for_targets(self):
        def down():
            return [each for each in self._prometheus.targets() if each["health"] != "up"]
        eventually(lambda: self._prometheus.targets() and not down())
        return down()

    def _wait_for_data(self, panels, wanted):
        """Expressions without data; those of these panels, or all others."""
        missing = [each for each in expressions(dashboard()) if (each.place in panels) == wanted]

        def all_have_data():
            missing[:] = [each for each in missing if not self._prometheus.values(with_values(each.text, VALUES))]
            return not missing
        eventually(all_have_data)
        return missing

    def _names(self):
        return {alert["labels"]["alertname"] for alert in self._prometheus.active_alerts()}

    def _wait_for_quiet(self):
        eventually(lambda: not self._names() - LOAD)
        return self._names() - LOAD

    def _wait_for_alerts(self, names, timeout=15, meanwhile=lambda: None):
        def are_active():
            meanwhile()
            for alert in self._prometheus.active_alerts():
                self.caused[alert["labels"]["alertname"]] = alert
            return names <= set(self.caused)
        eventually(are_active, timeout)

    def _observe_faults(self):
        scene = self._scene
        at_the_end = {"PenstockTargetDown", "PenstockAbsent"}
        scene.cause_faults()
        self._wait_for_alerts({"PenstockOrphanKeys", "PenstockScriptReloads"})  # while Redis answers
        self._wait_for_alerts({"PenstockStoreSlow"}, meanwhile=scene.slow_redis_down)
        scene.stop_redis()
        self.without_data_in_outage = self._wait_for_data(OUTAGE_PANELS, wanted=True)
        self._wait_for_alerts(self._expected - at_the_end)
        enforced = next(each for each in expressions(dashboard()) if each.place == "Limits enforced")
        self.enforced_in_outage = self._prometheus.value(with_values(enforced.text, VALUES))
        scene.continue_redis()
        reconciled = "max(penstock_outage_reconciled_units_total)"
        eventually(lambda: (self._prometheus.value(reconciled) or 0) > 0)
        self.reconciled = self._prometheus.value(reconciled)
        scene.nodes[1].signal(signal.SIGTERM)
        self._wait_for_alerts({"PenstockTargetDown"})
        scene.nodes[0].signal(signal.SIGTERM)
        self._wait_for_alerts({"PenstockAbsent"})
        self.rules = self._prometheus.rules()


class PrometheusTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        require("prometheus", "redis-server")
        cls.scene = Scene(cls.addClassCleanup)
        cls.found = Findings(cls.scene)

    def test_every_target_is_scraped(self):
        self.assertEqual(self.found.missing_targets, [])

    def test_every_expression_of_the_dashboard_has_data(self):
        self.assertEqual(self.found.without_data, [])
        self.assertEqual(self.found.without_data_in_outage, [])

    def test_every_variable_of_the_dashboard_has_values(self):
        self.assertEqual(set(self.found.label_values["job"]), {"penstock", "memory"})
        self.assertEqual(len(self.found.label_values["instance"]), 3)
        self.assertLessEqual({"web", "open", "hot", "memory"}, set(self.found.label_values["domain"]))
        self.assertLessEqual({"open/per-user", 'trial/new "rule"'}, set(self.found.label_values["rule"]))

    def test_the_dashboard_shows_that_limits_are_not_enforced_in_an_outage(self):
        self.assertEqual(self.found.enforced_in_outage, 3)  # some rules are open, others local
        self.assertGreater(self.found.reconciled, 0)

    def test_the_metrics_of_all_other_rules_exist(self):
        self.assertEqual(self.found.rules_without_data, [])

    def test_no_alert_is_active_while_all_is_healthy(self):
        self.assertEqual(self.found.alerts_when_healthy, set())

    def test_the_faults_activate_every_alert(self):
        names = {alert["alert"] for alert in alerts()}
        self.assertLessEqual(names - set(self.found.caused), set(NOT_CAUSED))

    def test_annotations_of_active_alerts_are_complete(self):
        for name, alert in self.found.caused.items():
            for text in alert["annotations"].values():
                self.assertNotRegex(text, r"<no value>|<error|\{\{|  ", name)
                self.assertFalse(text.startswith((":", " ")), name)

    def test_rules_are_evaluated_without_errors(self):
        self.assertEqual(len(self.found.rules), len(rules()))
        for rule in self.found.rules:
            self.assertEqual((rule["health"], rule.get("lastError")), ("ok", None), rule["name"])
        for word in ("level=error", "level=warn"):
            self.assertNotIn(word, self.scene.prometheus.output)


if __name__ == "__main__":
    unittest.main()
