"""Structure of the alerts and the Grafana dashboard of examples/prometheus; needs no server."""

import re
import unittest

from daemon import SOURCE_DIR
from prometheus_files import (
    alert_tests, alerts, dashboard, expressions, label_queries, panels, variables_in,
)

DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}
GRAFANA_VARIABLES = {"__rate_interval"}  # defined by Grafana
PANEL_TYPES = {"row", "stat", "timeseries"}
UNITS = {
    "none", "short", "percentunit", "s", "bytes", "bool", "reqps", "ops", "cps",  # of Grafana
}
COLUMNS = 24
SEVERITIES = {"page", "ticket"}
RUNBOOKS = "https://example.com/penstock/"


def cells(position):
    return {(x, y) for x in range(position["x"], position["x"] + position["w"])
            for y in range(position["y"], position["y"] + position["h"])}


def anchors(path):
    """Anchors of the headings of a Markdown file, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]


class DashboardTest(unittest.TestCase):
    def setUp(self):
        self.board = dashboard()
        self.panels = list(panels(self.board))
        self.graphs = [panel for panel in self.panels if panel["type"] != "row"]

    def test_ids_and_titles_are_unique(self):
        ids = [panel["id"] for panel in self.panels]
        self.assertEqual(len(ids), len(set(ids)))
        row, titles = "", []
        for panel in self.panels:
            row = panel["title"] if panel["type"] == "row" else row
            titles.append((row, panel["title"]))
        self.assertEqual(len(titles), len(set(titles)))

    def test_every_panel_has_title_description_datasource_and_unit(self):
        for panel in self.panels:
            self.assertIn(panel["type"], PANEL_TYPES, panel["title"])
            self.assertTrue(panel["title"])
        for panel in self.graphs:
            with self.subTest(panel["title"]):
                self.assertTrue(panel["description"].endswith("."))
                self.assertEqual(panel["datasource"], DATASOURCE)
                self.assertIn(panel["fieldConfig"]["defaults"]["unit"], UNITS)
                self.assertEqual(panel["fieldConfig"]["overrides"], [])
                self.assertIn("options", panel)

    def test_every_panel_has_targets_with_a_legend_if_it_has_several_series(self):
        for panel in self.graphs:
            with self.subTest(panel["title"]):
                names = [target["refId"] for target in panel["targets"]]
                self.assertTrue(names)
                self.assertEqual(len(names), len(set(names)))
                for target in panel["targets"]:
                    self.assertEqual(target["datasource"], DATASOURCE)
                    several = panel["type"] == "timeseries" or len(names) > 1
                    self.assertEqual(bool(target["legendFormat"]), several)

    def test_a_legend_uses_labels_that_the_expression_keeps(self):
        for panel in self.graphs:
            for target in panel["targets"]:
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    kept = re.search(rf"by \([^)]*\b{label}\b|on \([^)]*\b{label}\b", target["expr"])
                    self.assertTrue(kept, (panel["title"], label))

    def test_stat_panels_have_thresholds_with_rising_steps(self):
        stats = [panel for panel in self.graphs if panel["type"] == "stat"]
        self.assertGreaterEqual(len(stats), 5)
        for panel in self.graphs:
            thresholds = panel["fieldConfig"]["defaults"].get("thresholds")
            if panel["type"] != "stat" and thresholds is None:
                continue
            values = [step["value"] for step in thresholds["steps"]]
            self.assertIsNone(values[0], panel["title"])  # Grafana's minus infinity
            self.assertEqual(values[1:], sorted(values[1:]), panel["title"])

    def test_panels_do_not_overlap_and_have_no_gaps_between_rows(self):
        taken = {}
        for panel in self.panels:
            position = panel["gridPos"]
            self.assertLessEqual(position["x"] + position["w"], COLUMNS, panel["title"])
            for cell in cells(position):
                self.assertIsNone(taken.get(cell), panel["title"])
                taken[cell] = panel["title"]
        lines = {y for _, y in taken}
        self.assertEqual(lines, set(range(max(lines) + 1)))

    def test_panels_are_listed_below_their_row(self):
        order = [(panel["gridPos"]["y"], panel["gridPos"]["x"]) for panel in self.panels]
        self.assertEqual(order, sorted(order))
        self.assertEqual(self.panels[0]["type"], "row")

    def test_variables_are_defined_and_used(self):
        defined = [variable["name"] for variable in self.board["templating"]["list"]]
        self.assertEqual(defined, ["datasource", "job", "instance", "domain", "rule"])
        used = {"datasource"}
        for place, text in expressions(self.board):
            used |= variables_in(text)
            self.assertIn("$job", text, place)
            self.assertIn("$instance", text, place)
        for number, query in enumerate(label_queries(self.board)):
            before = set(defined[: number + 1])
            self.assertLessEqual(variables_in(query.selector), before, query.variable)
        self.assertEqual(used, set(defined) | GRAFANA_VARIABLES)


class AlertsTest(unittest.TestCase):
    def test_every_alert_has_a_severity_a_summary_and_a_description(self):
        for alert in alerts():
            with self.subTest(alert["alert"]):
                self.assertIn(alert["labels"]["severity"], SEVERITIES)
                self.assertEqual(set(alert["annotations"]), {"summary", "description", "runbook_url"})
                self.assertTrue(all(alert["annotations"].values()))

    def test_every_runbook_is_a_section_named_like_the_alert(self):
        for alert in alerts():
            with self.subTest(alert["alert"]):
                url = alert["annotations"]["runbook_url"]
                self.assertTrue(url.startswith(RUNBOOKS))
                path, _, anchor = url.removeprefix(RUNBOOKS).partition("#")
                self.assertEqual(anchor, alert["alert"].lower())
                self.assertEqual(anchors(SOURCE_DIR / path).count(anchor), 1)

    def test_every_alert_has_a_test_that_sees_it_firing_and_quiet(self):
        cases = {case["name"]: case["promql_expr_test"] for case in alert_tests()}
        self.assertEqual(set(cases), {alert["alert"] for alert in alerts()})
        for name, tests in cases.items():
            with self.subTest(name):
                self.assertTrue(all(f'"{name}"' in test["expr"] for test in tests))
                self.assertEqual({bool(test["exp_samples"]) for test in tests}, {True, False})


if __name__ == "__main__":
    unittest.main()
