// SPDX-License-Identifier: Apache-2.0
// How long a page takes with 100,000 jobs, whatever the filter: prints p50 and
// p99 of each. docs/performance.md holds them against the bar.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

#include "base/clock.h"
#include "base/id.h"
#include "base/status_macros.h"
#include "server/store/job_rows.h"
#include "server/store/job_store.h"
#include "tests/support/make_job.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

constexpr int kJobs = 100'000;
constexpr int kRounds = 200;

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

absl::Status Fill(const std::filesystem::path& path) {
  RETURN_IF_ERROR(JobStore::Open(path).status());
  ASSIGN_OR_RETURN(const std::unique_ptr<Sqlite> database,
                   Sqlite::Open(path, Sqlite::Access::kReadWrite));
  return database->Write([](SqlTransaction& sql) -> absl::Status {
    for (int i = 0; i < kJobs; ++i) {
      RETURN_IF_ERROR(InsertJob(sql, JobNumber(i)));
    }
    return absl::OkStatus();
  });
}

absl::Status MeasurePages(JobStore& store, const FilterCase& filter) {
  const Clock& clock = Clock::Real();
  std::vector<absl::Duration> times;
  std::optional<PageEnd> after;
  size_t items = 0;
  for (int round = 0; round < kRounds; ++round) {
    const absl::Duration start = clock.Monotonic();
    ASSIGN_OR_RETURN(const Page<Job> page,
                     store.List(filter.filter, 50, after));
    times.push_back(clock.Monotonic() - start);
    items = std::max(items, page.items.size());
    // Every other list goes on where the last one ended.
    after = round % 2 == 0 ? page.next : std::nullopt;
  }
  std::ranges::sort(times);
  std::printf("%-45s %3zu jobs  p50 %7.3f ms  p99 %7.3f ms\n", filter.name,
              items, absl::ToDoubleMilliseconds(times[kRounds / 2]),
              absl::ToDoubleMilliseconds(times[kRounds * 99 / 100]));
  return absl::OkStatus();
}

absl::Status Run() {
  const TempDir dir;
  const std::filesystem::path path = dir / "traza.db";
  RETURN_IF_ERROR(Fill(path));
  const absl::Duration before = Clock::Real().Monotonic();
  ASSIGN_OR_RETURN(const std::unique_ptr<JobStore> store, JobStore::Open(path));
  std::printf("open with quick_check: %.0f ms, %zu MB\n",
              absl::ToDoubleMilliseconds(Clock::Real().Monotonic() - before),
              static_cast<size_t>(std::filesystem::file_size(path) >> 20));
  for (const FilterCase& filter : Filters()) {
    RETURN_IF_ERROR(MeasurePages(*store, filter));
  }
  return absl::OkStatus();
}

}  // namespace
}  // namespace traza

int main() {
  const absl::Status status = traza::Run();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
