// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

#include "api/convert_enum.h"
#include "api/convert_job.h"
#include "base/status_macros.h"
#include "client/args/duration.h"
#include "client/cli/commands.h"
#include "client/cli/job_text.h"
#include "client/cli/options.h"
#include "client/term/list_table.h"
#include "trace/quantity.h"

namespace traza {
namespace {

std::string KindText(v1::DeviceKind kind) {
  switch (kind) {
    case v1::DEVICE_KIND_CPU:
      return "CPU";
    case v1::DEVICE_KIND_GPU:
      return "GPU";
    default:
      return "?";
  }
}

std::string SpeedText(const v1::Device& device) {
  const std::map<std::string, double> speeds(device.flops_per_second().begin(),
                                             device.flops_per_second().end());
  std::vector<std::string> parts;
  for (const auto& [dtype, flops] : speeds) {
    parts.push_back(absl::StrCat(dtype, " ", DecimalText(flops, "FLOP/s")));
  }
  if (device.has_memory_bytes_per_second()) {
    parts.push_back(absl::StrCat(
        "copies ", DecimalText(device.memory_bytes_per_second(), "B/s")));
  }
  return parts.empty() ? "n/a" : absl::StrJoin(parts, ", ");
}

std::string RenderDevices(const v1::ListDevicesResponse& devices, int width) {
  ListTable table({{"DEVICE"},
                   {"KIND"},
                   {"MODEL", Align::kLeft, true},
                   {"MEMORY", Align::kRight},
                   {"CORES", Align::kRight},
                   {"SPEED", Align::kLeft, true},
                   {"STATE", Align::kLeft, true}});
  for (const v1::Device& device : devices.devices()) {
    table.AddRow({device.name(), KindText(device.kind()), device.model(),
                  BytesText(static_cast<double>(device.memory_bytes())),
                  absl::StrCat(device.cores()), SpeedText(device),
                  device.has_unavailable()
                      ? absl::StrCat("unavailable: ", device.unavailable())
                      : "available"});
  }
  return table.Render(width);
}

std::string RenderHost(const v1::Host& host, const ServerAddress& server) {
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"host", host.hostname()},
      {"address", absl::StrCat(server.address, " (from ", server.source, ")")},
      {"ready", host.ready() ? "yes" : "no"}};
  for (const v1::HealthReason& reason : host.unhealthy()) {
    pairs.emplace_back(absl::StrCat("  ", reason.component()),
                       reason.message());
  }
  pairs.emplace_back("trazad", host.version());
  for (const auto& [name, version] : std::map<std::string, std::string>(
           host.versions().begin(), host.versions().end())) {
    pairs.emplace_back(name == "traza" ? "traza-worker" : name, version);
  }
  pairs.emplace_back("since", TimeText(host.start_time()));
  pairs.emplace_back("can do", absl::StrJoin(host.capabilities(), ", "));
  const v1::HostLimits& limits = host.limits();
  pairs.emplace_back(
      "queued jobs",
      absl::StrCat("at most ", limits.max_queued_jobs(), " for each device"));
  pairs.emplace_back(
      "trace size",
      absl::StrCat("at most ",
                   BytesText(static_cast<double>(limits.max_trace_bytes()))));
  pairs.emplace_back("memory",
                     absl::StrFormat("at most %.0f %% of a device's",
                                     limits.max_memory_share() * 100));
  pairs.emplace_back(
      "steps", absl::StrCat("at most ", limits.max_steps(), " of a kind"));
  const absl::StatusOr<absl::Duration> timeout =
      FromProto(limits.max_timeout());
  pairs.emplace_back(
      "timeout",
      timeout.ok() ? absl::StrCat("at most ", DurationText(*timeout)) : "");
  pairs.emplace_back(
      "streams",
      absl::StrCat("at most ", limits.max_watch_streams(), " that watch, ",
                   limits.max_read_streams(), " that read"));
  return RenderPairs(pairs);
}

absl::StatusOr<ExitCode> ShowDevices(CommandContext& context) {
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::ListDevicesResponse devices,
                   client->ListDevices());
  if (context.json()) {
    context.PrintJson(devices);
    return ExitCode::kOk;
  }
  const Console& console = context.console();
  console.out << RenderDevices(devices,
                               console.out_is_terminal ? console.width : 0);
  return ExitCode::kOk;
}

absl::StatusOr<ExitCode> ShowHost(CommandContext& context) {
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(const v1::Host host, client->GetHost());
  if (context.json()) {
    context.PrintJson(host);
  } else {
    context.console().out << RenderHost(host, context.server());
  }
  return ExitCode::kOk;
}

}  // namespace

void AddHostCommands(CommandTree& tree) {
  tree.Add("devices", "List the devices of the host", ShowDevices);
  tree.Add("host", "Show versions, abilities, limits and health of the host",
           ShowHost);
}

}  // namespace traza
