// SPDX-License-Identifier: Apache-2.0
//
// Traces of torch.profiler (tests/trace/fixtures/torch-profiler) against what
// its own key_averages() answered for the same runs.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

#include "trace/analysis/table.h"
#include "trace/file/any_trace.h"

namespace traza {
namespace {

std::filesystem::path Folder() {
  const char* root = std::getenv("TRAZA_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) /
         "tests/trace/fixtures/torch-profiler";
}

// One row of key_averages(), times in us.
struct OracleRow {
  int64_t count = 0;
  double self_cpu = 0, cpu = 0, self_device = 0, device = 0;
};

class KinetoOracle : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    absl::StatusOr<Trace> trace =
        ReadAnyTrace(Folder() / absl::StrCat(GetParam(), ".json.gz"));
    ASSERT_TRUE(trace.ok()) << trace.status();
    ASSERT_TRUE(Validate(*trace).ok()) << Validate(*trace);
    trace_ = *std::move(trace);
  }

  // The rows of the oracle by name, those of the CPU or those of the GPU.
  static std::map<std::string, OracleRow> Oracle(const std::string& device) {
    std::ifstream file(Folder() / absl::StrCat(GetParam(), ".rows.json"));
    std::map<std::string, OracleRow> rows;
    for (const auto& row : nlohmann::json::parse(file)) {
      if (row.at("device") != device) continue;
      rows[row.at("key")] = {row.at("count"), row.at("self_cpu_us"),
                             row.at("cpu_us"), row.at("self_device_us"),
                             row.at("device_us")};
    }
    return rows;
  }

  std::map<std::string, TableRow> TableOf(TableBy by) {
    std::map<std::string, TableRow> rows;
    const absl::StatusOr<Table> table = MakeTable(trace_, {.by = by});
    for (const TableRow& row : table->rows) {
      if (IsInTotals(by, row)) rows[row.name] = row;
    }
    return rows;
  }

  bool IsOverhead(const std::string& name) const {
    for (size_t row = 0; row < trace_.rows(); ++row) {
      if (trace_.kind[row] == EventKind::kOverhead &&
          trace_.name_of(row) == name) {
        return true;
      }
    }
    return false;
  }

  Trace trace_;
};

double Us(std::optional<int64_t> ns) {
  return static_cast<double>(ns.value_or(0)) / 1e3;
}

TEST_P(KinetoOracle, TableByOpEqualsKeyAverages) {
  const std::map<std::string, TableRow> table = TableOf(TableBy::kOp);
  bool overhead_has_device_time = false;
  for (const auto& [name, row] : Oracle("CPU")) {
    overhead_has_device_time |= row.self_device > 0 && IsOverhead(name);
  }
  for (const auto& [name, expected] : Oracle("CPU")) {
    if (!absl::StartsWith(name, "aten::")) continue;
    const auto found = table.find(name);
    ASSERT_NE(found, table.end()) << name;
    const TableRow& row = found->second;
    EXPECT_EQ(row.count, expected.count) << name;
    EXPECT_NEAR(Us(row.self_cpu_ns), expected.self_cpu, 1) << name;
    EXPECT_NEAR(Us(row.total_cpu_ns), expected.cpu, 1) << name;
    EXPECT_NEAR(Us(row.self_device_ns), expected.self_device, 1) << name;
    // The oracle books device time on overhead, and so on what is around it.
    if (!overhead_has_device_time) {
      EXPECT_NEAR(Us(row.total_device_ns), expected.device, 1) << name;
    } else {
      EXPECT_LE(Us(row.total_device_ns), expected.device + 1) << name;
    }
  }
  const std::map<std::string, OracleRow> oracle = Oracle("CPU");
  for (const auto& [name, row] : table) {
    EXPECT_TRUE(oracle.contains(name)) << name;
  }
}

TEST_P(KinetoOracle, TableByKernelEqualsKeyAverages) {
  const std::map<std::string, TableRow> table = TableOf(TableBy::kKernel);
  const std::map<std::string, OracleRow> oracle = Oracle("CUDA");
  for (const auto& [name, row] : table) {
    const auto expected = oracle.find(name);
    ASSERT_NE(expected, oracle.end()) << name;
    EXPECT_EQ(row.count, expected->second.count) << name;
    EXPECT_NEAR(Us(row.self_device_ns), expected->second.self_device, 1)
        << name;
  }
}

TEST_P(KinetoOracle, DeviceTimeOfTheOpsIsThatOfTheKernels) {
  int64_t by_op = 0, by_kernel = 0;
  const absl::StatusOr<Table> ops = MakeTable(trace_, {.by = TableBy::kOp});
  for (const TableRow& row : ops->rows) {
    if (IsInTotals(TableBy::kOp, row)) {
      by_op += row.self_device_ns.value_or(0);
    }
  }
  for (const auto& [name, row] : TableOf(TableBy::kKernel)) {
    by_kernel += *row.self_device_ns;
  }
  EXPECT_EQ(by_op + ops->totals.unattributed_device_ns.value_or(0), by_kernel);
}

INSTANTIATE_TEST_SUITE_P(
    Fixtures, KinetoOracle,
    testing::Values("mm64_cold", "mm4096_warm", "mm4096_compiled",
                    "linear_eager", "mlp_eager", "attn_naive", "sdpa_flash",
                    "cudagraph", "train", "hostcopy", "mlp_compiled",
                    "sdpa_math", "sdpa_efficient", "sdpa_cudnn",
                    // Training with batch norm, channels last, memory, shapes;
                    // autocast; .item() in a loop, with stacks; streams; no
                    // schedule, with overhead inside of operators.
                    "conv_train", "autocast_encoder", "sync_items",
                    "two_streams", "copies_no_steps", "misc_ops",
                    // Without a GPU: stacks and shapes; threads; a step of
                    // training with memory, stacks and shapes; torch 2.4.
                    "cpu_stacks", "cpu_threads", "cpu_train_memory",
                    "cpu_torch24_nested"),
    [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace traza
