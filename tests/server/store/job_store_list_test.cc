// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "server/store/job_store.h"
#include "tests/support/make_job.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Ids(const Page<Job>& page) {
  std::vector<std::string> ids;
  for (const Job& job : page.items) ids.push_back(job.id.value);
  return ids;
}

class JobStoreList : public ::testing::Test {
 protected:
  JobStoreList() {
    auto store = JobStore::Open(dir_ / "traza.db");
    EXPECT_THAT(store, IsOk());
    store_ = *std::move(store);
  }

  void Add(const std::string& id, int64_t second, JobState state,
           const std::string& workload,
           const std::map<std::string, std::string>& labels) {
    Job job = MakeJob(id, second);
    job.spec.workload = workload;
    job.spec.labels = labels;
    EXPECT_THAT(store_->Insert(job, ""), IsOk());
    if (state == JobState::kPending) return;
    job.state = state;
    EXPECT_THAT(store_->Transition(job, {JobState::kPending}), IsOk());
  }

  std::vector<std::string> List(const ListFilter& filter) {
    const auto page = store_->List(filter, 100, std::nullopt);
    EXPECT_THAT(page, IsOk());
    return Ids(*page);
  }

  TempDir dir_;
  std::unique_ptr<JobStore> store_;
};

TEST_F(JobStoreList, ComesNewestFirstAndEqualTimesById) {
  Add("b", 1, JobState::kPending, "w", {});
  Add("a", 2, JobState::kPending, "w", {});
  Add("c", 1, JobState::kPending, "w", {});

  EXPECT_THAT(List({}), ElementsAre("a", "c", "b"));
}

TEST_F(JobStoreList, FiltersByStateWorkloadAndLabels) {
  Add("a", 1, JobState::kPending, "w", {{"k", "1"}});
  Add("b", 2, JobState::kFailed, "w", {{"k", "1"}, {"m", "2"}});
  Add("c", 3, JobState::kFailed, "v", {{"k", "2"}, {"m", "2"}});
  Add("d", 4, JobState::kFailed, "v", {});

  EXPECT_THAT(List({.state = JobState::kFailed}), ElementsAre("d", "c", "b"));
  EXPECT_THAT(List({.workload = "w"}), ElementsAre("b", "a"));
  EXPECT_THAT(List({.state = JobState::kFailed, .workload = "w"}),
              ElementsAre("b"));
  EXPECT_THAT(List({.labels = {{"k", "1"}}}), ElementsAre("b", "a"));
  EXPECT_THAT(List({.labels = {{"k", "1"}, {"m", "2"}}}), ElementsAre("b"));
  EXPECT_THAT(List({.state = JobState::kFailed, .labels = {{"k", "1"}}}),
              ElementsAre("b"));
  EXPECT_THAT(List({.state = JobState::kFailed,
                    .workload = "v",
                    .labels = {{"k", "2"}, {"m", "2"}}}),
              ElementsAre("c"));
  EXPECT_THAT(List({.workload = "none"}), IsEmpty());
  EXPECT_THAT(List({.labels = {{"k", "none"}}}), IsEmpty());
}

TEST_F(JobStoreList, ALabelFollowsTheStateOfItsJob) {
  Add("a", 1, JobState::kFailed, "w", {{"k", "1"}});

  EXPECT_THAT(List({.state = JobState::kPending, .labels = {{"k", "1"}}}),
              IsEmpty());
  EXPECT_THAT(List({.state = JobState::kFailed, .labels = {{"k", "1"}}}),
              ElementsAre("a"));
}

// What a list is filtered by, and so which index drives it.
class JobStorePages : public JobStoreList,
                      public ::testing::WithParamInterface<ListFilter> {};

TEST_P(JobStorePages, HoldEachJobOnceWhateverTheirSize) {
  for (int i = 0; i < 23; ++i) {
    // Three jobs a second: pages end between equal times.
    Add(absl::StrCat("job", 10 + i), i / 3, JobState::kFailed, "w",
        {{"k", "1"}, {"m", "2"}});
    Add(absl::StrCat("other", 10 + i), i / 3, JobState::kPending, "v",
        {{"k", "2"}});
  }

  for (const int page_size : {1, 2, 5, 23, 24}) {
    std::vector<std::string> ids;
    std::optional<PageEnd> after;
    do {
      const auto page = store_->List(GetParam(), page_size, after);
      ASSERT_THAT(page, IsOk());
      ASSERT_LE(page->items.size(), static_cast<size_t>(page_size));
      for (const std::string& id : Ids(*page)) ids.push_back(id);
      after = page->next;
    } while (after.has_value());

    EXPECT_EQ(ids.size(), 23u) << page_size;
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 23u);
    EXPECT_EQ(ids.front(), "job32");
    EXPECT_EQ(ids.back(), "job10");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Filters, JobStorePages,
    ::testing::Values(ListFilter{.workload = "w"},
                      ListFilter{.state = JobState::kFailed},
                      ListFilter{.state = JobState::kFailed, .workload = "w"},
                      ListFilter{.labels = {{"k", "1"}}},
                      ListFilter{.labels = {{"k", "1"}, {"m", "2"}}},
                      ListFilter{.state = JobState::kFailed,
                                 .workload = "w",
                                 .labels = {{"k", "1"}}}));

TEST_F(JobStoreList, TracesAreFilteredByWorkloadAndLabels) {
  for (int i = 0; i < 4; ++i) {
    Job job = MakeJob(absl::StrCat("job", i), i);
    ASSERT_THAT(store_->Insert(job, ""), IsOk());
    job.state = JobState::kSucceeded;
    TraceRow trace = MakeTraceRow(absl::StrCat("trace", i), i);
    trace.workload = i % 2 == 0 ? "w" : "v";
    trace.labels = {{"n", absl::StrCat(i / 2)}};
    ASSERT_THAT(store_->Finish(job, {JobState::kPending}, trace, "answer"),
                IsOk());
  }
  const auto list = [&](const ListFilter& filter) {
    std::vector<std::string> ids;
    const auto page = store_->ListTraces(filter, 100, std::nullopt);
    EXPECT_THAT(page, IsOk());
    for (const TraceRow& trace : page->items) ids.push_back(trace.id.value);
    return ids;
  };

  EXPECT_THAT(list({}), ElementsAre("trace3", "trace2", "trace1", "trace0"));
  EXPECT_THAT(list({.workload = "w"}), ElementsAre("trace2", "trace0"));
  EXPECT_THAT(list({.labels = {{"n", "1"}}}), ElementsAre("trace3", "trace2"));
  EXPECT_THAT(list({.workload = "w", .labels = {{"n", "1"}}}),
              ElementsAre("trace2"));
}

}  // namespace
}  // namespace traza
