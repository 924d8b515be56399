// SPDX-License-Identifier: Apache-2.0
#include "server/options.h"

#include <unistd.h>

#include <functional>
#include <map>
#include <sstream>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

#include "base/error.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/version.h"

namespace traza {
namespace {

constexpr char kDefaultConfigFile[] = "/etc/traza/trazad.toml";
constexpr char kEnvironmentPrefix[] = "TRAZAD_";

absl::Status Bad(absl::string_view message) {
  return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                      Reason::kInvalidArgument)
      .Build(message);
}

absl::StatusOr<int64_t> ParseInt(absl::string_view text, int64_t min,
                                 int64_t max) {
  int64_t value = 0;
  if (!absl::SimpleAtoi(text, &value) || value < min || value > max) {
    return Bad(absl::StrCat("\"", text, "\" is not a whole number from ", min,
                            " to ", max, "."));
  }
  return value;
}

// Bytes as a number, with K, M, G or T for powers of 1024.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text) {
  static constexpr absl::string_view kUnits = "KMGT";
  int shift = 0;
  absl::string_view digits = text;
  if (!text.empty()) {
    const size_t unit = kUnits.find(absl::ascii_toupper(text.back()));
    if (unit != absl::string_view::npos) {
      shift = static_cast<int>(unit + 1) * 10;
      digits.remove_suffix(1);
    }
  }
  int64_t value = 0;
  if (!absl::SimpleAtoi(digits, &value) || value <= 0 ||
      value > (int64_t{1} << 62) >> shift) {
    return Bad(absl::StrCat("\"", text,
                            "\" is not a size such as 1048576, 512M or 100G."));
  }
  return value << shift;
}

absl::StatusOr<absl::Duration> ParseSeconds(absl::string_view text) {
  absl::Duration value;
  if (!absl::ParseDuration(text, &value) || value < absl::ZeroDuration() ||
      value > absl::Hours(1)) {
    return Bad(absl::StrCat(
        "\"", text, "\" is not a duration from 0s to 1h, such as 30s."));
  }
  return value;
}

absl::StatusOr<bool> ParseBool(absl::string_view text) {
  if (text == "true" || text == "1") return true;
  if (text == "false" || text == "0") return false;
  return Bad(absl::StrCat("\"", text, "\" is neither true nor false."));
}

// One setting: its name serves as flag, key and variable.
struct Setting {
  absl::string_view name;
  absl::string_view value;  // what the value is, for --help; empty for a switch
  std::string help;
  std::function<absl::Status(absl::string_view, DaemonOptions*)> apply;
};

template <typename T, typename Field>
absl::Status Assign(absl::StatusOr<T> value, Field* field) {
  RETURN_IF_ERROR(value.status());
  *field = static_cast<Field>(*std::move(value));
  return absl::OkStatus();
}

std::vector<Setting> NetworkSettings() {
  return {
      {"listen", "HOST:PORT",
       "gRPC address; port 0 is any free one [127.0.0.1:7719]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseHostPort(v), &o->listen);
       }},
      {"http-listen", "HOST:PORT",
       "address of metrics, health and JSON [127.0.0.1:7720]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseHostPort(v), &o->http_listen);
       }},
      {"insecure-listen", "",
       "allow addresses that other machines can reach, without encryption or "
       "authentication",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseBool(v), &o->insecure_listen);
       }},
      {"ready-fd", "N",
       "descriptor that gets one JSON line with addresses and pid when the "
       "daemon serves",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseInt(v, 0, 1'000'000), &o->ready_fd);
       }},
  };
}

std::vector<Setting> JobSettings() {
  return {
      {"data-dir", "DIR",
       "jobs and traces [$STATE_DIRECTORY, else /var/lib/traza as root, else "
       "~/.local/state/traza]",
       [](absl::string_view v, DaemonOptions* o) {
         if (v.empty()) return Bad("A folder is needed.");
         o->data_dir = std::string(v);
         return absl::OkStatus();
       }},
      {"lease-dir", "DIR",
       absl::StrCat("where daemons of one host lease GPUs; they must agree [",
                    kLeaseFolder, "]"),
       [](absl::string_view v, DaemonOptions* o) {
         if (v.empty()) return Bad("A folder is needed.");
         o->lease_dir = std::string(v);
         return absl::OkStatus();
       }},
      {"worker", "PATH", "the program traza-worker [beside or below trazad]",
       [](absl::string_view v, DaemonOptions* o) {
         if (v.empty()) return Bad("A program is needed.");
         o->worker = std::string(v);
         return absl::OkStatus();
       }},
      {"standby-workers", "N",
       "workers of each device that wait ready, 0 to 8 [1]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseInt(v, 0, 8), &o->standby_workers);
       }},
      {"measure-gpus", "BOOL",
       "measure once what each GPU can do at most, at the start [true]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseBool(v), &o->measure_gpus);
       }},
      {"max-queued-jobs", "N", "queued jobs of each device, 1 to 100000 [1000]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseInt(v, 1, 100'000), &o->jobs.max_queued_jobs);
       }},
      {"max-trace-bytes", "BYTES", "largest trace file [1G]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseBytes(v), &o->jobs.admission.max_trace_bytes);
       }},
      {"max-store-bytes", "BYTES",
       "all trace files together; above it no job is accepted [100G]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseBytes(v), &o->jobs.max_store_bytes);
       }},
      {"compile-timeout", "DURATION",
       "how long compiling a variant may take, 1s to 1h [10m]",
       [](absl::string_view v, DaemonOptions* o) {
         absl::StatusOr<absl::Duration> limit = ParseSeconds(v);
         if (limit.ok() && *limit < absl::Seconds(1)) {
           return Bad("Compiling needs a second at least.");
         }
         return Assign(std::move(limit), &o->compile_timeout);
       }},
      {"drain-timeout", "DURATION",
       "how long a running job may go on after SIGTERM, 0s to 1h [30s]",
       [](absl::string_view v, DaemonOptions* o) {
         return Assign(ParseSeconds(v), &o->drain_timeout);
       }},
      {"log-level", "LEVEL", "debug, info, warning or error [info]",
       [](absl::string_view v, DaemonOptions* o) {
         return ParseLogLevel(v, &o->log_level)
                    ? absl::OkStatus()
                    : Bad(absl::StrCat("\"", v,
                                       "\" is none of debug, info, warning, "
                                       "error."));
       }},
  };
}

std::vector<Setting> AllSettings() {
  std::vector<Setting> settings = NetworkSettings();
  for (Setting& setting : JobSettings()) settings.push_back(std::move(setting));
  return settings;
}

const Setting* Find(const std::vector<Setting>& settings,
                    absl::string_view name) {
  for (const Setting& setting : settings) {
    if (setting.name == name) return &setting;
  }
  return nullptr;
}

absl::Status Apply(const std::vector<Setting>& settings, absl::string_view name,
                   absl::string_view value, absl::string_view origin,
                   DaemonOptions* options) {
  const Setting* setting = Find(settings, name);
  if (setting == nullptr) {
    return Bad(
        absl::StrCat(origin, ": there is no such setting; known are ",
                     absl::StrJoin(settings, ", ",
                                   [](std::string* out, const Setting& s) {
                                     absl::StrAppend(out, s.name);
                                   }),
                     "."));
  }
  const absl::Status status = setting->apply(value, options);
  return status.ok() ? status : Annotate(status, origin);
}

// The keys of a TOML file: scalars at the top level.
absl::Status ApplyFile(const std::vector<Setting>& settings,
                       const std::string& path, DaemonOptions* options) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path, 1 << 20));
  std::istringstream stream(text);
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_config(stream);
  } catch (const std::exception& error) {
    return Bad(absl::StrCat(path, ": ", error.what()));
  }
  for (const CLI::ConfigItem& item : items) {
    const std::string origin = absl::StrCat(path, ": ", item.fullname());
    if (!item.parents.empty()) {
      return Bad(absl::StrCat(origin, ": there are no sections in this file."));
    }
    if (item.inputs.size() != 1) {
      return Bad(absl::StrCat(origin, ": one value is needed."));
    }
    RETURN_IF_ERROR(
        Apply(settings, item.name, item.inputs.front(), origin, options));
  }
  return absl::OkStatus();
}

absl::Status ApplyEnvironment(const std::vector<Setting>& settings,
                              const std::vector<std::string>& environment,
                              DaemonOptions* options) {
  for (const std::string& entry : environment) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(entry, absl::MaxSplits('=', 1));
    if (!absl::StartsWith(pair.first, kEnvironmentPrefix)) continue;
    if (pair.first == "TRAZAD_CONFIG") continue;
    const std::string name = absl::StrReplaceAll(
        absl::AsciiStrToLower(
            pair.first.substr(sizeof(kEnvironmentPrefix) - 1)),
        {{"_", "-"}});
    RETURN_IF_ERROR(Apply(settings, name, pair.second, pair.first, options));
  }
  return absl::OkStatus();
}

absl::string_view Lookup(const std::vector<std::string>& environment,
                         absl::string_view name) {
  for (const std::string& entry : environment) {
    absl::string_view value = entry;
    if (absl::ConsumePrefix(&value, name) && absl::ConsumePrefix(&value, "=")) {
      return value;
    }
  }
  return "";
}

std::filesystem::path DefaultDataDir(
    const std::vector<std::string>& environment) {
  const absl::string_view state = Lookup(environment, "STATE_DIRECTORY");
  if (!state.empty()) return std::string(state);
  if (geteuid() == 0) return "/var/lib/traza";
  const absl::string_view home = Lookup(environment, "HOME");
  if (!home.empty()) {
    return std::filesystem::path(std::string(home)) / ".local/state/traza";
  }
  return {};
}

// In an install trazad is bin/trazad and the worker
// libexec/traza/traza-worker; in the build tree they are neighbours.
std::filesystem::path DefaultWorker() {
  const std::filesystem::path here = ExecutableDirectory();
  std::filesystem::path installed =
      here.parent_path() / "libexec/traza/traza-worker";
  std::error_code ignored;
  if (std::filesystem::exists(installed, ignored)) return installed;
  return here / "traza-worker";
}

// What the flags say, before any of it is applied.
struct Flags {
  std::map<std::string, std::string> values;  // by setting
  std::string config;
};

void AddFlags(const std::vector<Setting>& settings, Flags* flags,
              CLI::App* app) {
  app->add_option("--config", flags->config,
                  "settings file [" + std::string(kDefaultConfigFile) +
                      " when it is there]")
      ->option_text("FILE");
  for (const Setting& setting : settings) {
    const std::string name(setting.name);
    const std::string flag = "--" + name;
    if (setting.value.empty()) {
      app->add_flag_callback(
          flag, [flags, name] { flags->values[name] = "true"; }, setting.help);
    } else {
      app->add_option_function<std::string>(
             flag,
             [flags, name](const std::string& value) {
               flags->values[name] = value;
             },
             setting.help)
          ->option_text(std::string(setting.value))
          // As in a shell alias that is overridden: the last one counts.
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
  }
}

absl::Status CheckListeners(const DaemonOptions& options) {
  for (const auto& [flag, address] :
       {std::pair<absl::string_view, HostPort>{"listen", options.listen},
        {"http-listen", options.http_listen}}) {
    if (address.loopback() || options.insecure_listen) continue;
    return ErrorBuilder(absl::StatusCode::kInvalidArgument,
                        Reason::kInsecureListen)
        .With("address", address.ToString())
        .Build(absl::StrCat(
            "--", flag, " ", address.ToString(),
            " can be reached from other machines, and this version neither "
            "encrypts nor authenticates: listen on 127.0.0.1, or say "
            "--insecure-listen."));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DaemonCommand> ParseDaemonOptions(
    const std::vector<std::string>& args,
    const std::vector<std::string>& environment) {
  const std::vector<Setting> settings = AllSettings();
  CLI::App app(
      "trazad: the traza daemon. It runs profiling jobs on this host "
      "and serves their answers.\n"
      "Settings: flags, then TRAZAD_ variables, then the file.",
      "trazad");
  app.set_version_flag("--version",
                       absl::StrCat("trazad ", kVersion, " (", kRevision, ")"));
  Flags flags;
  AddFlags(settings, &flags, &app);
  DaemonCommand command;
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    command.print = app.help();
    return command;
  } catch (const CLI::CallForVersion&) {
    command.print = absl::StrCat(app.version(), "\n");
    return command;
  } catch (const CLI::Error& error) {
    return Bad(absl::StrCat(error.what(), ". See trazad --help."));
  }

  DaemonOptions& options = command.options;
  options.data_dir = DefaultDataDir(environment);
  options.worker = DefaultWorker();
  const absl::string_view config_variable =
      Lookup(environment, "TRAZAD_CONFIG");
  std::string config =
      flags.config.empty() ? std::string(config_variable) : flags.config;
  std::error_code ignored;
  if (config.empty() && std::filesystem::exists(kDefaultConfigFile, ignored)) {
    config = kDefaultConfigFile;
  }
  if (!config.empty()) RETURN_IF_ERROR(ApplyFile(settings, config, &options));
  RETURN_IF_ERROR(ApplyEnvironment(settings, environment, &options));
  for (const auto& [name, value] : flags.values) {
    RETURN_IF_ERROR(
        Apply(settings, name, value, absl::StrCat("--", name), &options));
  }
  if (options.data_dir.empty()) {
    return Bad("No data folder: give --data-dir DIR, or set HOME.");
  }
  RETURN_IF_ERROR(CheckListeners(options));
  return command;
}

}  // namespace traza
