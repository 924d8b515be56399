// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_METRICS_METRIC_TABLE_H_
#define SERVER_METRICS_METRIC_TABLE_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "prometheus/counter.h"
#include "prometheus/family.h"
#include "prometheus/gauge.h"
#include "prometheus/histogram.h"
#include "prometheus/metric_family.h"
#include "prometheus/registry.h"

#include "base/mutex.h"

namespace traza {

enum class MetricType { kCounter, kGauge, kHistogram };

// One metric: a row of the table in metrics.cc.
struct MetricSpec {
  MetricType type;
  std::string name;
  std::vector<std::string> labels;  // names
  // No newline: prometheus-cpp escapes none here.
  std::string help;
  std::vector<double> buckets;  // upper bounds, of histograms
};

// The series of a list of metrics, addressed by row number and label values.
// A series exists from the first call that names it, with the value 0.
//
// Thread-safe. Exceptions of prometheus-cpp end here: they are logged, and the
// call does nothing.
class MetricTable {
 public:
  explicit MetricTable(const std::vector<MetricSpec>& specs);

  using Values = std::vector<absl::string_view>;

  // Makes a series, without a value of its own yet.
  void Declare(int metric, const Values& labels);
  void Add(int metric, const Values& labels, double amount = 1);
  void Set(int metric, const Values& labels, double value);
  void Observe(int metric, const Values& labels, double value);

  // All series in the text format 0.0.4, those of the process, and `more`.
  std::string Text(std::vector<prometheus::MetricFamily> more) const;

 private:
  struct Family {
    MetricSpec spec;
    prometheus::Family<prometheus::Counter>* counters = nullptr;
    prometheus::Family<prometheus::Gauge>* gauges = nullptr;
    prometheus::Family<prometheus::Histogram>* histograms = nullptr;
  };
  // Exactly one is set; all null when it could not be made.
  struct Series {
    prometheus::Counter* counter = nullptr;
    prometheus::Gauge* gauge = nullptr;
    prometheus::Histogram* histogram = nullptr;
  };

  Series Find(int metric, const Values& labels) ABSL_LOCKS_EXCLUDED(mu_);
  static Series Make(const Family& family, const Values& labels);

  prometheus::Registry registry_;
  std::vector<Family> families_;  // constant after construction
  Mutex mu_;
  absl::flat_hash_map<std::string, Series> series_ ABSL_GUARDED_BY(mu_);
};

}  // namespace traza

#endif  // SERVER_METRICS_METRIC_TABLE_H_
