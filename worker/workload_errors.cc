// SPDX-License-Identifier: Apache-2.0
#include "worker/workload_errors.h"

#include <array>
#include <exception>
#include <new>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "base/error.h"
#include "base/utf8.h"
#include "workloads/workload.h"

namespace traza {
namespace {

constexpr size_t kMaxTextBytes = 2000;

// How PyTorch's allocators, and the C library, say it.
constexpr std::array<absl::string_view, 3> kOutOfMemoryTexts = {
    "out of memory", "can't allocate memory", "not enough memory"};

absl::Status OutOfMemory(absl::string_view text) {
  return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                      Reason::kOutOfMemory)
      .Build(text);
}

// How PyTorch says that an operator has no code for an element type there:
// ... not implemented for 'Half'.
constexpr absl::string_view kNotImplementedText = "not implemented for '";

absl::Status Unavailable(absl::string_view text) {
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kWorkloadUnavailable)
      .Build(text);
}

absl::Status StatusOfText(absl::string_view what) {
  const std::string valid =
      ToValidUtf8(what.substr(0, what.find("\nException raised from")));
  const absl::string_view text =
      CutUtf8(absl::StripAsciiWhitespace(valid), kMaxTextBytes);
  for (const absl::string_view sign : kOutOfMemoryTexts) {
    if (absl::StrContains(text, sign)) return OutOfMemory(text);
  }
  if (absl::StrContains(text, kNotImplementedText)) {
    return Unavailable(
        absl::StrCat("PyTorch cannot compute this on the device: ", text,
                     text.back() == '.' ? "" : ".", " Choose another dtype."));
  }
  return ErrorBuilder(absl::StatusCode::kInternal, Reason::kWorkerFailed)
      .Build(text.empty() ? "The workload failed without a message." : text);
}

}  // namespace

absl::Status CatchErrors(const std::function<absl::Status()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return OutOfMemory("The worker ran out of memory.");
  } catch (const WorkloadUnavailable& error) {
    return Unavailable(CutUtf8(ToValidUtf8(error.what()), kMaxTextBytes));
  } catch (const std::exception& error) {
    return StatusOfText(error.what());
  } catch (...) {
    return StatusOfText("");
  }
}

}  // namespace traza
