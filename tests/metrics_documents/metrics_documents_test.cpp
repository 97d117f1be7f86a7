#include "telemetry/metric_catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

// Documentation and examples name exactly the metrics that exist.
namespace penstock::telemetry {
namespace {

std::string text_of(const std::string& path) {
  const std::ifstream file(std::string(PENSTOCK_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

std::string_view name_of(MetricType type) {
  switch (type) {
    case MetricType::Counter: return "counter";
    case MetricType::Gauge: return "gauge";
    case MetricType::Histogram: return "histogram";
  }
  return "unknown";
}

// The row of a metric in docs/reference/metrics.md.
std::string row_of(const Metric& metric) {
  std::string row = "| `" + std::string(metric.name) + "` | ";
  row += std::string(name_of(metric.type)) + " | ";
  std::string separator;
  for (const std::string_view label : metric.labels) {
    if (label.empty()) continue;
    row += separator + "`" + std::string(label) + "`";
    separator = ", ";
  }
  return row + (separator.empty() ? "| " : " | ") + std::string(metric.help) + " |";
}

// Every word that looks like a metric of ours.
std::set<std::string> metrics_in(const std::string& text) {
  std::set<std::string> found;
  std::string word;
  for (const char letter : text + " ") {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_') {
      word += letter;
      continue;
    }
    if (word.starts_with("penstock_") || word.starts_with("process_")) found.insert(word);
    word.clear();
  }
  return found;
}

bool exists(std::string name) {
  for (const std::string_view part : {"_bucket", "_sum", "_count"}) {
    if (name.ends_with(part)) name.resize(name.size() - part.size());
  }
  const auto all = all_metrics();
  return std::any_of(all.begin(), all.end(),
                     [&](const Metric* each) { return each->name == name; });
}

TEST(MetricsDocument, HasARowForEveryMetricAndNoOtherRows) {
  std::istringstream document(text_of("docs/reference/metrics.md"));
  std::set<std::string> rows;
  for (std::string line; std::getline(document, line);) {
    if (line.starts_with("| `penstock_") || line.starts_with("| `process_")) rows.insert(line);
  }
  for (const Metric* metric : all_metrics()) {
    EXPECT_EQ(rows.erase(row_of(*metric)), 1U) << "docs/reference/metrics.md lacks\n"
                                               << row_of(*metric);
  }
  EXPECT_EQ(rows, std::set<std::string>{})
      << "docs/reference/metrics.md has rows for what does not exist";
}

TEST(PrometheusExamples, NameOnlyMetricsThatExist) {
  for (const char* path :
       {"examples/prometheus/penstock-alerts.yaml", "examples/prometheus/penstock-alerts-test.yaml",
        "examples/prometheus/grafana-dashboard.json"}) {
    const std::set<std::string> named = metrics_in(text_of(path));
    EXPECT_FALSE(named.empty());
    for (const std::string& name : named) EXPECT_TRUE(exists(name)) << path << " names " << name;
  }
}

}  // namespace
}  // namespace penstock::telemetry
