// SPDX-License-Identifier: Apache-2.0
// Prints docs/errors.md. With the name of a file, compares that file instead
// and fails where it differs.
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

#include "base/error.h"
#include "base/file.h"

namespace traza {
namespace {

constexpr char kJob[] = "job";
constexpr char kStart[] = "start of trazad";

// Where a reason is met: the gRPC code of calls that fail with it, "job" for
// the error of a job that failed, the start of the daemon.
std::string WhereMet(Reason reason) {
  switch (reason) {
    case Reason::kInvalidArgument:
    case Reason::kUnknownParameter:
    case Reason::kMemoryTooLarge:
    case Reason::kTimeTooLong:
    case Reason::kPageTokenInvalid:
    case Reason::kTraceUnreadable:
      return "INVALID_ARGUMENT";
    case Reason::kTraceTooLarge:
      return absl::StrCat("INVALID_ARGUMENT, ", kJob);
    case Reason::kJobNotFound:
    case Reason::kTraceNotFound:
    case Reason::kWorkloadNotFound:
    case Reason::kVariantNotFound:
    case Reason::kDeviceNotFound:
      return "NOT_FOUND";
    case Reason::kRequestIdReused:
    case Reason::kJobIdTaken:
      return "ALREADY_EXISTS";
    case Reason::kWorkloadUnavailable:
    case Reason::kDeviceUnavailable:
    case Reason::kJobAlreadyDone:
    case Reason::kJobNotDone:
    case Reason::kJobHasNoTrace:
    case Reason::kRunsUnlike:
      return "FAILED_PRECONDITION";
    case Reason::kQueueFull:
    case Reason::kTooManyRequests:
      return "RESOURCE_EXHAUSTED";
    case Reason::kStoreFull:
      return absl::StrCat("RESOURCE_EXHAUSTED, ", kJob);
    case Reason::kStoreUnwritable:
      return absl::StrCat("FAILED_PRECONDITION, ", kJob, ", ", kStart);
    case Reason::kNotImplemented:
      return "UNIMPLEMENTED";
    case Reason::kDraining:
      return "UNAVAILABLE";
    case Reason::kUnreachable:
      return "UNAVAILABLE, told by the client";
    case Reason::kTraceCorrupt:
      return "DATA_LOSS";
    case Reason::kInternal:
      return absl::StrCat("INTERNAL, ", kJob);
    case Reason::kDaemonRestarted:
    case Reason::kWorkerCrashed:
    case Reason::kWorkerFailed:
    case Reason::kWorkerProtocol:
    case Reason::kWorkerNotStarted:
    case Reason::kOutOfMemory:
    case Reason::kPhaseTimeout:
    case Reason::kCancelled:
    case Reason::kCompileFailed:
    case Reason::kModelUnusable:
    case Reason::kTracerBusy:
    case Reason::kTracingUnavailable:
      return kJob;
    case Reason::kTraceIncomplete:
    case Reason::kTraceEmpty:
      return absl::StrCat("INVALID_ARGUMENT, ", kJob);
    case Reason::kStoreInUse:
    case Reason::kStoreTooNew:
    case Reason::kStoreDamaged:
    case Reason::kAddressInUse:
    case Reason::kInsecureListen:
      return kStart;
  }
  return "";
}

std::string ErrorsDoc() {
  std::string text =
      "# Errors\n"
      "\n"
      "Made from `base/error.h` by `errors_doc`; a test holds the two "
      "together.\n"
      "\n"
      "Every error carries `google.rpc.ErrorInfo` with the domain `traza` and "
      "one of these\n"
      "reasons; a wrong request also names each wrong field in "
      "`google.rpc.BadRequest`, and\n"
      "where waiting helps `google.rpc.RetryInfo` says how long. The numbers "
      "of a message are\n"
      "exact in the metadata. *Where* is the gRPC code of a failed call, "
      "`job` for the\n"
      "`error` of a job, or the start of the daemon.\n"
      "\n"
      "| reason | meaning | what to do | where |\n"
      "| --- | --- | --- | --- |\n";
  for (const Reason reason : AllReasons()) {
    const ReasonText& texts = TextOf(reason);
    absl::StrAppend(&text, "| `", texts.name, "` | ", texts.meaning, " | ",
                    texts.remedy, " | ", WhereMet(reason), " |\n");
  }
  return text;
}

int Compare(const char* path) {
  const absl::StatusOr<std::string> text = ReadFile(path, 1 << 20);
  if (text.ok() && *text == ErrorsDoc()) return 0;
  std::fprintf(stderr, "%s is not what errors_doc prints: write it anew.\n",
               path);
  return 1;
}

}  // namespace
}  // namespace traza

int main(int argc, char** argv) {
  if (argc > 1) return traza::Compare(argv[1]);
  std::fputs(traza::ErrorsDoc().c_str(), stdout);
  return 0;
}
