// SPDX-License-Identifier: Apache-2.0
#ifndef SERVER_STORE_LIST_FILTER_H_
#define SERVER_STORE_LIST_FILTER_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"

#include "spec/job.h"

namespace traza {

// AND of what is set.
struct ListFilter {
  std::optional<JobState> state;  // jobs only
  std::optional<std::string> workload;
  std::map<std::string, std::string> labels;

  friend bool operator==(const ListFilter&, const ListFilter&) = default;
};

// Where a page of a list ends: the next one holds what is older. Lists are
// newest first; equal times are ordered by id.
struct PageEnd {
  absl::Time create_time;
  std::string id;
};

template <typename T>
struct Page {
  std::vector<T> items;
  std::optional<PageEnd> next;  // absent on the last page
};

}  // namespace traza

#endif  // SERVER_STORE_LIST_FILTER_H_
