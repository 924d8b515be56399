// SPDX-License-Identifier: Apache-2.0
#include "server/metrics/metric_table.h"

#include <exception>
#include <utility>

#include "absl/strings/str_cat.h"
#include "prometheus/text_serializer.h"

#include "base/check.h"
#include "base/log.h"
#include "server/metrics/process_metrics.h"

namespace traza {
namespace {

// Between parts of a key; no label value of ours has it.
constexpr char kSeparator = '\x1f';

prometheus::Labels ToLabels(const MetricSpec& spec,
                            const MetricTable::Values& values) {
  TRAZA_CHECK(spec.labels.size() == values.size());
  prometheus::Labels labels;
  for (size_t i = 0; i < values.size(); ++i) {
    labels.emplace(spec.labels[i], std::string(values[i]));
  }
  return labels;
}

}  // namespace

MetricTable::MetricTable(const std::vector<MetricSpec>& specs) {
  for (const MetricSpec& spec : specs) {
    Family family{spec};
    switch (spec.type) {
      case MetricType::kCounter:
        family.counters = &prometheus::BuildCounter()
                               .Name(spec.name)
                               .Help(spec.help)
                               .Register(registry_);
        break;
      case MetricType::kGauge:
        family.gauges =
            &prometheus::BuildGauge().Name(spec.name).Help(spec.help).Register(
                registry_);
        break;
      case MetricType::kHistogram:
        family.histograms = &prometheus::BuildHistogram()
                                 .Name(spec.name)
                                 .Help(spec.help)
                                 .Register(registry_);
        break;
    }
    families_.push_back(std::move(family));
  }
}

MetricTable::Series MetricTable::Make(const Family& family,
                                      const Values& values) {
  Series series;
  try {
    const prometheus::Labels labels = ToLabels(family.spec, values);
    switch (family.spec.type) {
      case MetricType::kCounter:
        series.counter = &family.counters->Add(labels);
        break;
      case MetricType::kGauge:
        series.gauge = &family.gauges->Add(labels);
        break;
      case MetricType::kHistogram:
        series.histogram = &family.histograms->Add(labels, family.spec.buckets);
        break;
    }
  } catch (const std::exception& exception) {
    LogError("Metric ", family.spec.name, ": ", exception.what());
  }
  return series;
}

MetricTable::Series MetricTable::Find(int metric, const Values& labels) {
  std::string key = absl::StrCat(metric);
  for (const absl::string_view value : labels) {
    key.push_back(kSeparator);
    key.append(value.data(), value.size());
  }
  const Family& family = families_[static_cast<size_t>(metric)];
  const MutexLock lock(mu_);
  const auto found = series_.find(key);
  if (found != series_.end()) return found->second;
  const Series series = Make(family, labels);
  series_.emplace(std::move(key), series);
  return series;
}

void MetricTable::Declare(int metric, const Values& labels) {
  Find(metric, labels);
}

void MetricTable::Add(int metric, const Values& labels, double amount) {
  const Series series = Find(metric, labels);
  TRAZA_CHECK(series.gauge == nullptr && series.histogram == nullptr);
  if (series.counter != nullptr) series.counter->Increment(amount);
}

void MetricTable::Set(int metric, const Values& labels, double value) {
  const Series series = Find(metric, labels);
  TRAZA_CHECK(series.counter == nullptr && series.histogram == nullptr);
  if (series.gauge != nullptr) series.gauge->Set(value);
}

void MetricTable::Observe(int metric, const Values& labels, double value) {
  const Series series = Find(metric, labels);
  TRAZA_CHECK(series.counter == nullptr && series.gauge == nullptr);
  if (series.histogram != nullptr) series.histogram->Observe(value);
}

std::string MetricTable::Text(
    std::vector<prometheus::MetricFamily> more) const {
  try {
    std::vector<prometheus::MetricFamily> families = registry_.Collect();
    for (prometheus::MetricFamily& family : CollectProcessMetrics()) {
      families.push_back(std::move(family));
    }
    for (prometheus::MetricFamily& family : more) {
      families.push_back(std::move(family));
    }
    return prometheus::TextSerializer().Serialize(families);
  } catch (const std::exception& exception) {
    LogError("Metrics cannot be shown: ", exception.what());
    return "";
  }
}

}  // namespace traza
