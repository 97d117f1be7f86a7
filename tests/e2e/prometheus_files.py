"""Reads the alerts and the Grafana dashboard of examples/prometheus."""

import json
import re
from typing import NamedTuple

import yaml

from daemon import SOURCE_DIR

FOLDER = SOURCE_DIR / "examples" / "prometheus"
ALERTS = FOLDER / "penstock-alerts.yaml"
ALERTS_TEST = FOLDER / "penstock-alerts-test.yaml"
DASHBOARD = FOLDER / "grafana-dashboard.json"

_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_COMPARISON = re.compile(r"\s(==|!=|<=|>=|<|>) (?!bool )")
_LABEL_VALUES = re.compile(r"label_values\((?P<selector>.+), (?P<label>\w+)\)")


class Expression(NamedTuple):
    place: str  # panel or rule, for messages
    text: str


class LabelValues(NamedTuple):
    variable: str
    selector: str
    label: str


def rules():
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def alert_tests():
    return yaml.safe_load(ALERTS_TEST.read_text(encoding="utf-8"))["tests"]


def dashboard():
    return json.loads(DASHBOARD.read_text(encoding="utf-8"))


def panels(board):
    """All panels, including those of collapsed rows."""
    for panel in board["panels"]:
        yield panel
        yield from panel.get("panels", [])


def expressions(board):
    found = [Expression(panel["title"], target["expr"])
             for panel in panels(board) for target in panel.get("targets", [])]
    return found + [Expression(each["name"], each["expr"]) for each in board["annotations"]["list"]]


def label_queries(board):
    """The queries that fill the variables."""
    found = []
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            match = _LABEL_VALUES.fullmatch(variable["query"]["query"])
            found.append(LabelValues(variable["name"], match["selector"], match["label"]))
    return found


def variables_in(text):
    return {braced or plain for braced, plain in _VARIABLE.findall(text)}


def with_values(text, values):
    """The text as Grafana sends it."""
    return _VARIABLE.sub(lambda match: values[match[1] or match[2]], text)


def without_thresholds(expression):
    """Comparisons return 0 or 1 instead of dropping series, so that a result shows that all metrics exist."""
    return _COMPARISON.sub(r" \1 bool ", expression)
