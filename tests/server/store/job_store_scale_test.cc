// SPDX-License-Identifier: Apache-2.0
// How long a page takes with 100,000 jobs, whatever the filter.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "server/store/job_rows.h"
#include "server/store/job_store.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

constexpr int kJobs = 100'000;
constexpr int kRounds = 200;
constexpr absl::Duration kLimit = absl::Milliseconds(10);

// The jobs of a busy host: most succeed, three workloads, a label with two
// values that exclude each other, one with a hundred, one of each job's own.
Job JobNumber(int i) {
  Job job =
      MakeJob(NewSortableId(absl::FromUnixSeconds(kJobOriginSeconds + i)), i);
  constexpr const char* kWorkloads[] = {"matmul_add", "linear", "geglu_mlp"};
  job.spec.workload = kWorkloads[i % 3];
  job.spec.labels = {{"half", i < kJobs / 2 ? "old" : "new"},
                     {"parity", i % 2 == 0 ? "even" : "odd"},
                     {"build", absl::StrCat(i % 100)},
                     {"commit", absl::StrCat(i)}};
  job.state = i % 50 == 0     ? JobState::kFailed
              : i < kJobs / 4 ? JobState::kCancelled
                              : JobState::kSucceeded;
  return job;
}

struct FilterCase {
  const char* name;
  ListFilter filter;
};

std::vector<FilterCase> Filters() {
  const auto state = [](JobState s) { return ListFilter{.state = s}; };
  return {
      {"none", {}},
      {"succeeded", state(JobState::kSucceeded)},
      {"failed", state(JobState::kFailed)},
      {"running", state(JobState::kRunning)},
      {"workload", {.workload = "linear"}},
      {"workload that is not there", {.workload = "none"}},
      {"state and workload",
       {.state = JobState::kFailed, .workload = "geglu_mlp"}},
      {"label of half the jobs", {.labels = {{"half", "old"}}}},
      {"label of one job", {.labels = {{"commit", "777"}}}},
      {"label and workload",
       {.workload = "linear", .labels = {{"half", "old"}}}},
      {"label and a rare state",
       {.state = JobState::kFailed, .labels = {{"half", "old"}}}},
      {"label and a state that excludes it",
       {.state = JobState::kCancelled, .labels = {{"half", "new"}}}},
      {"label and a rare state that excludes it",
       {.state = JobState::kFailed, .labels = {{"parity", "odd"}}}},
      {"two labels", {.labels = {{"half", "old"}, {"build", "7"}}}},
      {"two labels that exclude each other",
       {.labels = {{"parity", "odd"}, {"build", "8"}}}},
      {"three labels and all else",
       {.state = JobState::kSucceeded,
        .workload = "linear",
        .labels = {{"half", "new"}, {"parity", "odd"}, {"build", "13"}}}},
  };
}

TEST(JobStoreScale, APageOfAHundredThousandJobsTakesAtMostTenMilliseconds) {
  TempDir dir;
  const std::filesystem::path path = dir / "traza.db";
  {
    ASSERT_THAT(JobStore::Open(path), IsOk());
    auto database = Sqlite::Open(path, Sqlite::Access::kReadWrite);
    ASSERT_THAT(database, IsOk());
    const auto fill = [](SqlTransaction& sql) -> absl::Status {
      for (int i = 0; i < kJobs; ++i) {
        RETURN_IF_ERROR(InsertJob(sql, JobNumber(i)));
      }
      return absl::OkStatus();
    };
    ASSERT_THAT((*database)->Write(fill), IsOk());
  }
  const Clock& clock = Clock::Real();
  const absl::Duration before = clock.Monotonic();
  auto store = JobStore::Open(path);
  ASSERT_THAT(store, IsOk());
  std::printf("open with quick_check: %s, %zu MB\n",
              absl::FormatDuration(clock.Monotonic() - before).c_str(),
              static_cast<size_t>(std::filesystem::file_size(path) >> 20));

  for (const FilterCase& test : Filters()) {
    std::vector<absl::Duration> times;
    std::optional<PageEnd> after;
    size_t items = 0;
    for (int round = 0; round < kRounds; ++round) {
      const absl::Duration start = clock.Monotonic();
      const auto page = (*store)->List(test.filter, 50, after);
      times.push_back(clock.Monotonic() - start);
      ASSERT_THAT(page, IsOk());
      items = std::max(items, page->items.size());
      // Every other list goes on where the last one ended.
      after = round % 2 == 0 ? page->next : std::nullopt;
    }
    std::sort(times.begin(), times.end());
    const absl::Duration p99 = times[kRounds * 99 / 100];
    std::printf("%-45s %3zu jobs, p50 %s, p99 %s\n", test.name, items,
                absl::FormatDuration(times[kRounds / 2]).c_str(),
                absl::FormatDuration(p99).c_str());
    EXPECT_LE(p99, kLimit) << test.name;
  }
}

}  // namespace
}  // namespace traza
