// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"

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

constexpr char kNothingHere[] = "nothing here";

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
  return names.empty() ? kNothingHere : absl::StrJoin(names, ", ");
}

std::vector<const v1::Variant*> VariantsOf(const v1::Workload& workload) {
  std::vector<const v1::Variant*> variants;
  for (const v1::Variant& variant : workload.variants()) {
    variants.push_back(&variant);
  }
  return variants;
}

std::string RenderWorkloads(const v1::ListWorkloadsResponse& workloads,
                            const v1::ListDevicesResponse& devices, int width) {
  ListTable table({{"WORKLOAD"},
                   {"VARIANTS", Align::kLeft, true},
                   {"RUNS ON", Align::kLeft, true},
                   {"WHAT", Align::kLeft, true}});
  bool any = false;
  for (const v1::Workload& workload : workloads.workloads()) {
    std::vector<std::string> names;
    for (const v1::Variant& variant : workload.variants()) {
      const bool runs = RunsOn({&variant}, devices) != kNothingHere;
      names.push_back(runs ? variant.name()
                           : absl::StrCat("(", variant.name(), ")"));
      any = any || !runs;
    }
    table.AddRow({workload.name(), absl::StrJoin(names, ", "),
                  RunsOn(VariantsOf(workload), devices), workload.title()});
  }
  return absl::StrCat(table.Render(width),
                      any ? "(In brackets: cannot run here; traza workloads "
                            "NAME says why.)\n"
                          : "");
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

// Why a CPU lacks some values.
std::string GpuOnlyText(const v1::Workload& workload) {
  std::string text;
  for (const v1::Param& param : workload.params()) {
    const std::map<std::string, std::string> gpu_only(param.gpu_only().begin(),
                                                      param.gpu_only().end());
    for (const auto& [choice, why] : gpu_only) {
      absl::StrAppend(&text, param.name(), "=", choice,
                      " needs a GPU: ", EscapeControlCharacters(why), "\n");
    }
  }
  return text;
}

// "bias=2d", "size=64 or 4096", "batch not 1".
std::string ConditionText(const std::string& name, absl::string_view value) {
  const bool negated = absl::ConsumePrefix(&value, "!");
  return absl::StrCat(name, negated ? " not " : "=",
                      absl::StrReplaceAll(value, {{"|", " or "}}));
}

// "eager, on a GPU, bias=2d, batch not 1": which jobs it is about.
std::string JobsText(const v1::Expectation& expectation) {
  std::vector<std::string> parts;
  if (!expectation.variant().empty()) parts.push_back(expectation.variant());
  if (expectation.device() != v1::DEVICE_KIND_UNSPECIFIED) {
    parts.emplace_back(
        expectation.device() == v1::DEVICE_KIND_GPU ? "on a GPU" : "on a CPU");
  }
  const std::map<std::string, std::string> only_if(
      expectation.only_if().begin(), expectation.only_if().end());
  for (const auto& [name, value] : only_if) {
    parts.push_back(ConditionText(name, value));
  }
  return parts.empty() ? "all" : absl::StrJoin(parts, ", ");
}

std::string RenderExpectations(const v1::Workload& workload, int width) {
  if (workload.expectations().empty()) return "";
  ListTable table(
      {{"EXPECTED"}, {"OF", Align::kLeft, true}, {"WHY", Align::kLeft, true}});
  for (const v1::Expectation& expectation : workload.expectations()) {
    table.AddRow({EscapeControlCharacters(expectation.expr()),
                  JobsText(expectation),
                  EscapeControlCharacters(expectation.why())});
  }
  return absl::StrCat(table.Render(width), "\n");
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
    if (!variant.range().empty()) {
      absl::StrAppend(&reasons, "The range of ", variant.name(), " is ",
                      EscapeControlCharacters(variant.range()), ".\n");
    }
    const std::map<std::string, std::string> unavailable(
        variant.unavailable().begin(), variant.unavailable().end());
    for (const auto& [device, why] : unavailable) {
      absl::StrAppend(&reasons, variant.name(), " cannot run on ", device, ": ",
                      EscapeControlCharacters(why), "\n");
    }
  }
  return absl::StrCat(table.Render(width), reasons);
}

// How to run it, where something here can.
std::string ExampleText(const v1::Workload& workload,
                        const v1::ListDevicesResponse& devices) {
  if (RunsOn(VariantsOf(workload), devices) == kNothingHere) return "";
  const std::string param =
      workload.params().empty()
          ? ""
          : absl::StrCat(" -p ", workload.params(0).name(), "=",
                         workload.params(0).default_cpu());
  return absl::StrCat("Run it with: traza run ", workload.name(), param, "\n");
}

std::string RenderWorkload(const v1::Workload& workload,
                           const v1::ListDevicesResponse& devices, int width) {
  std::vector<std::pair<std::string, std::string>> pairs = {
      {"workload", workload.name()},
      {"what", workload.title()},
      {"range", workload.range()}};
  if (!workload.shows().empty()) pairs.emplace_back("shows", workload.shows());
  return absl::StrCat(
      RenderPairs(pairs), "\n", RenderVariants(workload, devices, width), "\n",
      workload.params().empty() ? ""
                                : absl::StrCat(RenderParams(workload, width),
                                               GpuOnlyText(workload), "\n"),
      RenderExpectations(workload, width), ExampleText(workload, devices));
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
