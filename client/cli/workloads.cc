// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "client/cli/commands.h"
#include "client/cli/options.h"
#include "client/term/list_table.h"

namespace traza {
namespace {

std::vector<std::string> DeviceNames(const v1::ListDevicesResponse& devices) {
  std::vector<std::string> names;
  for (const v1::Device& device : devices.devices()) {
    names.push_back(device.name());
  }
  return names;
}

// Devices that one of the variants can run on.
std::string RunsOn(const std::vector<const v1::Variant*>& variants,
                   const v1::ListDevicesResponse& devices) {
  std::vector<std::string> names;
  for (const std::string& name : DeviceNames(devices)) {
    const bool runs =
        std::ranges::any_of(variants, [&name](const v1::Variant* v) {
          return !v->unavailable().contains(name);
        });
    if (runs) names.push_back(name);
  }
  return names.empty() ? "nothing here" : absl::StrJoin(names, ", ");
}

std::string RenderWorkloads(const v1::ListWorkloadsResponse& workloads,
                            const v1::ListDevicesResponse& devices, int width) {
  ListTable table({{"WORKLOAD"},
                   {"VARIANTS", Align::kLeft, true},
                   {"RUNS ON", Align::kLeft, true},
                   {"WHAT", Align::kLeft, true}});
  for (const v1::Workload& workload : workloads.workloads()) {
    std::vector<std::string> names;
    std::vector<const v1::Variant*> variants;
    for (const v1::Variant& variant : workload.variants()) {
      names.push_back(variant.name());
      variants.push_back(&variant);
    }
    table.AddRow({workload.name(), absl::StrJoin(names, ", "),
                  RunsOn(variants, devices), workload.title()});
  }
  return table.Render(width);
}

std::string ValuesText(const v1::Param& param) {
  if (param.type() == v1::PARAM_TYPE_CHOICE) {
    return absl::StrJoin(param.choices(), ", ");
  }
  if (param.has_min() && param.has_max()) {
    return absl::StrCat(param.min(), " to ", param.max());
  }
  return "";
}

std::string RenderParams(const v1::Workload& workload, int width) {
  ListTable table({{"PARAMETER"},
                   {"VALUES", Align::kLeft, true},
                   {"ON CPU", Align::kRight},
                   {"ON GPU", Align::kRight},
                   {"UNIT"},
                   {"WHAT", Align::kLeft, true}});
  for (const v1::Param& param : workload.params()) {
    table.AddRow({param.name(), ValuesText(param), param.default_cpu(),
                  param.default_gpu(), param.unit(), param.help()});
  }
  return table.Render(width);
}

std::string RenderVariants(const v1::Workload& workload,
                           const v1::ListDevicesResponse& devices, int width) {
  ListTable table({{"VARIANT"},
                   {"RUNS ON", Align::kLeft, true},
                   {"WHAT", Align::kLeft, true}});
  std::string reasons;
  for (const v1::Variant& variant : workload.variants()) {
    table.AddRow(
        {variant.name(), RunsOn({&variant}, devices), variant.title()});
    const std::map<std::string, std::string> unavailable(
        variant.unavailable().begin(), variant.unavailable().end());
    for (const auto& [device, why] : unavailable) {
      absl::StrAppend(&reasons, variant.name(), " cannot run on ", device, ": ",
                      EscapeControlCharacters(why), "\n");
    }
  }
  return absl::StrCat(table.Render(width), reasons);
}

std::string RenderWorkload(const v1::Workload& workload,
                           const v1::ListDevicesResponse& devices, int width) {
  const std::string example =
      workload.params().empty()
          ? ""
          : absl::StrCat(" -p ", workload.params(0).name(), "=",
                         workload.params(0).default_cpu());
  return absl::StrCat(RenderPairs({{"workload", workload.name()},
                                   {"what", workload.title()},
                                   {"range", workload.range()}}),
                      "\n", RenderVariants(workload, devices, width), "\n",
                      workload.params().empty()
                          ? ""
                          : absl::StrCat(RenderParams(workload, width), "\n"),
                      "Run it with: traza run ", workload.name(), example,
                      "\n");
}

// Leaves only the workload of that name.
absl::Status KeepOne(const std::string& name,
                     v1::ListWorkloadsResponse* workloads) {
  std::vector<std::string> known;
  for (const v1::Workload& workload : workloads->workloads()) {
    known.push_back(workload.name());
    if (workload.name() != name) continue;
    v1::ListWorkloadsResponse one;
    *one.add_workloads() = workload;
    *workloads = std::move(one);
    return absl::OkStatus();
  }
  const std::string near = Suggest(name, known);
  return ErrorBuilder(absl::StatusCode::kNotFound, Reason::kWorkloadNotFound)
      .With("workload", name)
      .Build(absl::StrCat(
          "There is no workload ", Quoted(name), ". ",
          near.empty()
              ? absl::StrCat("There are ", absl::StrJoin(known, ", "), ".")
              : absl::StrCat("Did you mean ", near, "?")));
}

absl::StatusOr<ExitCode> ShowWorkloads(const std::string& name,
                                       CommandContext& context) {
  ASSIGN_OR_RETURN(Client* const client, context.Connect());
  ASSIGN_OR_RETURN(v1::ListWorkloadsResponse workloads,
                   client->ListWorkloads());
  if (!name.empty()) {
    RETURN_IF_ERROR(KeepOne(name, &workloads));
  }
  if (context.json()) {
    context.PrintJson(workloads);
    return ExitCode::kOk;
  }
  ASSIGN_OR_RETURN(const v1::ListDevicesResponse devices,
                   client->ListDevices());
  const Console& console = context.console();
  const int width = console.out_is_terminal ? console.width : 0;
  if (name.empty()) {
    console.out << RenderWorkloads(workloads, devices, width) << std::flush;
    console.Note("One of them: traza workloads NAME");
  } else {
    console.out << RenderWorkload(workloads.workloads(0), devices, width);
  }
  return ExitCode::kOk;
}

}  // namespace

void AddWorkloadsCommand(CommandTree& tree) {
  const auto name = std::make_shared<std::string>();
  CLI::App& app =
      tree.Add("workloads", "List what can be run, or show one in full",
               [name](CommandContext& context) {
                 return ShowWorkloads(*name, context);
               });
  AddPositional(app, "NAME", name.get(), "Show that one: variants, parameters")
      ->required(false);
}

}  // namespace traza
