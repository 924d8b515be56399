// SPDX-License-Identifier: Apache-2.0
#include "worker/options.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#include "base/status_macros.h"

namespace traza {
namespace {

// The value of "--spec=FILE" or "--spec FILE"; moves `at` past it.
absl::StatusOr<std::string> ValueOf(absl::string_view name,
                                    const std::vector<std::string>& args,
                                    size_t* at) {
  const std::string& arg = args[*at];
  if (arg.size() > name.size()) return arg.substr(name.size() + 1);
  if (*at + 1 == args.size()) {
    return absl::InvalidArgumentError(absl::StrCat(name, " needs a value"));
  }
  return args[++*at];
}

bool IsOption(absl::string_view arg, absl::string_view name) {
  return arg == name || absl::StartsWith(arg, absl::StrCat(name, "="));
}

// One mode, of which the others are no part.
absl::Status Check(const WorkerOptions& options, int modes) {
  const bool by_hand = !options.spec.empty() || !options.out.empty();
  if (modes + (by_hand ? 1 : 0) != 1) {
    return absl::InvalidArgumentError(
        "give one of --describe, --measure, --daemon, --spec with --out");
  }
  if (by_hand && (options.spec.empty() || options.out.empty())) {
    return absl::InvalidArgumentError("--spec and --out go together");
  }
  const bool daemon = options.mode == WorkerMode::kDaemon;
  if (!options.dump.empty() && !by_hand) {
    return absl::InvalidArgumentError("--dump needs --spec and --out");
  }
  if (options.standby && !daemon) {
    return absl::InvalidArgumentError("--standby needs --daemon");
  }
  const bool with_device = daemon || options.mode == WorkerMode::kMeasure;
  if (with_device && options.device.empty()) {
    return absl::InvalidArgumentError("--daemon and --measure need --device");
  }
  if (!with_device && !options.device.empty()) {
    return absl::InvalidArgumentError("--device needs --daemon or --measure");
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view WorkerUsage() {
  return "usage: traza-worker --spec FILE --out FILE   run one job by hand\n"
         "       traza-worker --describe               print what this host "
         "can do\n"
         "       traza-worker --measure --device ID    measure the roofs of "
         "a GPU\n"
         "       traza-worker --daemon --device ID [--standby]\n"
         "                                             serve trazad on "
         "descriptor "
         "3\n"
         "       traza-worker --help | --version\n"
         "\n"
         "--spec FILE  a job request in JSON, \"-\" for stdin; only "
         "\"workload\" "
         "is\n"
         "             needed: {\"workload\": \"matmul_add\", \"params\": "
         "{\"size\": \"64\"}}\n"
         "--out FILE   the trace, a Parquet file\n"
         "--models DIR compiled packages are kept there, and your own models "
         "are\n"
         "             found there; with every mode\n"
         "--compile-timeout D\n"
         "             how long compiling a variant may take [10m]\n"
         "--dump FILE  CUPTI's records as they came, for tests without a GPU\n"
         "\n"
         "Exit codes: 0 done, 1 the job failed, 2 wrong usage or request.\n";
}

absl::StatusOr<WorkerOptions> ParseWorkerOptions(
    const std::vector<std::string>& args) {
  WorkerOptions options;
  int modes = 0;
  const auto set_mode = [&](WorkerMode mode) {
    options.mode = mode;
    ++modes;
  };
  for (size_t i = 0; i < args.size(); ++i) {
    const std::string& arg = args[i];
    if (arg == "--help" || arg == "-h") {
      options.mode = WorkerMode::kPrintHelp;
      return options;
    }
    if (arg == "--version") {
      set_mode(WorkerMode::kPrintVersion);
    } else if (arg == "--describe") {
      set_mode(WorkerMode::kDescribe);
    } else if (arg == "--measure") {
      set_mode(WorkerMode::kMeasure);
    } else if (arg == "--daemon") {
      set_mode(WorkerMode::kDaemon);
    } else if (arg == "--standby") {
      options.standby = true;
    } else if (IsOption(arg, "--device")) {
      ASSIGN_OR_RETURN(options.device, ValueOf("--device", args, &i));
    } else if (IsOption(arg, "--spec")) {
      ASSIGN_OR_RETURN(options.spec, ValueOf("--spec", args, &i));
    } else if (IsOption(arg, "--models")) {
      ASSIGN_OR_RETURN(options.models, ValueOf("--models", args, &i));
    } else if (IsOption(arg, "--compile-timeout")) {
      ASSIGN_OR_RETURN(const std::string text,
                       ValueOf("--compile-timeout", args, &i));
      if (!absl::ParseDuration(text, &options.compile_timeout) ||
          options.compile_timeout <= absl::ZeroDuration()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--compile-timeout ", text, " is no duration such as 10m"));
      }
    } else if (IsOption(arg, "--dump")) {
      ASSIGN_OR_RETURN(options.dump, ValueOf("--dump", args, &i));
    } else if (IsOption(arg, "--out")) {
      ASSIGN_OR_RETURN(options.out, ValueOf("--out", args, &i));
    } else {
      return absl::InvalidArgumentError(absl::StrCat("unknown option ", arg));
    }
  }
  if (modes == 0) options.mode = WorkerMode::kByHand;
  RETURN_IF_ERROR(Check(options, modes));
  return options;
}

}  // namespace traza
