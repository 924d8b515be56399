// SPDX-License-Identifier: Apache-2.0
#include "workloads/model.h"

#include <stdlib.h>
#include <sys/resource.h>

#include <exception>
#include <stdexcept>
#include <utility>
#include <vector>

#include "ATen/core/Tensor.h"
#include "ATen/record_function.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "c10/core/InferenceMode.h"
#include "torch/csrc/jit/serialization/import.h"

#include "base/error.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "workloads/aoti_package.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

constexpr size_t kMaxTextBytes = 600;
// How deep a returned structure is searched for a tensor.
constexpr int kMaxReturnDepth = 8;

absl::Status Unusable(const RegisteredModel& model, absl::string_view what) {
  const std::string valid =
      ToValidUtf8(what.substr(0, what.find("\nException raised from")));
  return ErrorBuilder(absl::StatusCode::kFailedPrecondition,
                      Reason::kModelUnusable)
      .With("file", model.file.native())
      .Build(absl::StrCat(
          model.file.native(), " does not load: ",
          CutUtf8(absl::StripAsciiWhitespace(valid), kMaxTextBytes)));
}

// The first tensor in what a model returned; null when there is none.
const at::Tensor* FirstTensor(const c10::IValue& value, at::Tensor* holder,
                              int depth = 0) {
  if (value.isTensor()) {
    *holder = value.toTensor();
    return holder;
  }
  if (depth == kMaxReturnDepth) return nullptr;
  if (value.isTensorList()) {
    const std::vector<at::Tensor> tensors = value.toTensorVector();
    if (tensors.empty()) return nullptr;
    *holder = tensors.front();
    return holder;
  }
  if (value.isTuple()) {
    for (const c10::IValue& element : value.toTupleRef().elements()) {
      if (FirstTensor(element, holder, depth + 1) != nullptr) return holder;
    }
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (FirstTensor(element, holder, depth + 1) != nullptr) return holder;
    }
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) {
      if (FirstTensor(entry.value(), holder, depth + 1) != nullptr) {
        return holder;
      }
    }
  }
  return nullptr;
}

// The interpreter puts the reason behind its traces, where it would be cut.
std::string ReasonFirst(absl::string_view what) {
  const absl::string_view text = absl::StripAsciiWhitespace(
      what.substr(0, what.find("\nException raised from")));
  const size_t last = text.rfind('\n');
  if (last == absl::string_view::npos) return std::string(text);
  return absl::StrCat("The model threw ", text.substr(last + 1), "\n", text);
}

// Throws where nothing could be said of an output like that, which is known
// after the first step.
void CheckOutput(const at::Tensor& output) {
  const char* what = nullptr;
  if (output.layout() != at::kStrided) what = "sparse";
  if (output.is_quantized()) what = "quantized";
  if (output.is_meta()) what = "meta";
  if (what == nullptr) return;
  throw std::runtime_error(absl::StrCat(
      "The model returns a ", what,
      " tensor first, whose sum and norm cannot be told: let it return a dense "
      "one of numbers (to_dense(), dequantize())."));
}

// A TorchScript file, run by PyTorch's interpreter.
class Script : public Workload {
 public:
  Script(torch::jit::Module module, const ModelManifest& manifest,
         std::vector<at::Tensor> inputs)
      : module_(std::move(module)),
        range_(manifest.range),
        tolerance_(manifest.tolerance),
        inputs_(inputs.begin(), inputs.end()) {}

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE(range_);
    try {
      returned_ = module_.forward(inputs_);
    } catch (const std::exception& error) {
      throw std::runtime_error(ReasonFirst(error.what()));
    }
    if (!checked_) CheckOutput(FirstOutput());
    checked_ = true;
  }

  OutputSummary Output() const override {
    OutputSummary summary = Summarize(FirstOutput());
    summary.tolerance = tolerance_;
    return summary;
  }

 private:
  at::Tensor FirstOutput() const {
    at::Tensor output;
    if (FirstTensor(returned_, &output) == nullptr) {
      throw std::runtime_error(
          absl::StrCat("The model returns no tensor, but ", returned_.tagKind(),
                       ": nothing could be said of its output."));
    }
    return output;
  }

  torch::jit::Module module_;
  const std::string range_;
  const std::optional<double> tolerance_;
  const std::vector<c10::IValue> inputs_;
  c10::IValue returned_;
  bool checked_ = false;  // of the first step
};

// A package of AOTInductor.
class Package : public Workload {
 public:
  Package(std::shared_ptr<AotiPackage> package, const ModelManifest& manifest,
          std::vector<at::Tensor> inputs)
      : package_(std::move(package)),
        range_(manifest.range),
        tolerance_(manifest.tolerance),
        inputs_(std::move(inputs)) {}

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE(range_);
    {
      RECORD_USER_SCOPE(kCompiledRange);
      outputs_ = package_->Run(inputs_);
    }
  }

  OutputSummary Output() const override {
    if (outputs_.empty()) {
      throw std::runtime_error("The package returned no tensor.");
    }
    OutputSummary summary = Summarize(outputs_.front());
    summary.tolerance = tolerance_;
    return summary;
  }

 private:
  const std::shared_ptr<AotiPackage> package_;
  const std::string range_;
  const std::optional<double> tolerance_;
  const std::vector<at::Tensor> inputs_;
  std::vector<at::Tensor> outputs_;
};

absl::Status CheckMemory(const std::vector<TensorSpec>& inputs,
                         const std::string& device, int64_t memory_bytes) {
  const double needed = BytesOf(inputs);
  if (memory_bytes == 0 || needed <= static_cast<double>(memory_bytes)) {
    return absl::OkStatus();
  }
  return ErrorBuilder(absl::StatusCode::kResourceExhausted,
                      Reason::kOutOfMemory)
      .Build(
          absl::StrFormat("The inputs of the model need %.0f bytes; %s has %d.",
                          needed, device, memory_bytes));
}

// What unpacking writes must stay below what this process may write: beyond
// it the kernel kills.
absl::Status CheckFileLimit(const RegisteredModel& model) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      static_cast<rlim_t>(model.package.largest_member_bytes) <=
          limit.rlim_cur) {
    return absl::OkStatus();
  }
  return Unusable(
      model,
      absl::StrCat("unpacking it writes a file of ",
                   model.package.largest_member_bytes,
                   " bytes, and a worker may write ",
                   static_cast<int64_t>(limit.rlim_cur),
                   "; this one was started before the file was there: run the "
                   "job again"));
}

absl::StatusOr<std::unique_ptr<Workload>> CreatePackage(
    const RegisteredModel& model, const WorkloadArgs& args,
    const std::vector<TensorSpec>& specs) {
  RETURN_IF_ERROR(CheckFileLimit(model));
  // A package of somebody else may want other tensors than its manifest says;
  // unchecked it would read beyond them. Read once, when it first runs.
  setenv("AOTI_RUNTIME_CHECK_INPUTS", "1", /*overwrite=*/1);
  ASSIGN_OR_RETURN(
      std::shared_ptr<AotiPackage> package,
      AotiPackage::Load(model.file.native(), args.device,
                        "It has to be compiled with the worker's PyTorch, for "
                        "this GPU; /tmp must allow programs."));
  return std::make_unique<Package>(std::move(package), *model.manifest,
                                   RandomInputs(args, specs));
}

// Whether the model can be called with so many tensors; else why not.
absl::Status CheckCall(const RegisteredModel& model,
                       const torch::jit::Module& module, size_t tensors) {
  const auto forward = module.find_method("forward");
  if (!forward.has_value()) return Unusable(model, "it has no method forward");
  const std::vector<c10::Argument>& arguments =
      forward->function().getSchema().arguments();
  // The first one is the module itself.
  size_t needed = 0;
  for (size_t i = 1; i < arguments.size(); ++i) {
    const bool has_default = arguments[i].default_value().has_value();
    if (!has_default) needed = i;
    if ((i <= tensors || !has_default) &&
        !at::TensorType::get()->isSubtypeOf(*arguments[i].type())) {
      return Unusable(
          model, absl::StrCat("its argument ", arguments[i].name(),
                              " is no tensor but ",
                              arguments[i].type()->annotation_str(),
                              "; a model takes tensors, as its manifest says"));
    }
  }
  const size_t most = arguments.size() - 1;
  if (needed <= tensors && tensors <= most) return absl::OkStatus();
  return Unusable(model,
                  absl::StrCat("it takes ", needed,
                               needed == most ? "" : absl::StrCat(" to ", most),
                               " tensors, but its manifest has ", tensors,
                               " inputs: make them agree"));
}

absl::StatusOr<std::unique_ptr<Workload>> CreateScript(
    const RegisteredModel& model, const WorkloadArgs& args,
    const std::vector<TensorSpec>& specs) {
  std::optional<torch::jit::Module> module;
  try {
    module = torch::jit::load(model.file.native(), DeviceOf(args.device));
  } catch (const std::exception& error) {
    return Unusable(model, error.what());
  }
  RETURN_IF_ERROR(CheckCall(model, *module, specs.size()));
  module->eval();
  return std::make_unique<Script>(*std::move(module), *model.manifest,
                                  RandomInputs(args, specs));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Workload>> CreateModel(
    const RegisteredModel& model, const WorkloadArgs& args,
    int64_t memory_bytes) {
  const std::vector<TensorSpec> specs = InputsOf(*model.manifest, args.params);
  RETURN_IF_ERROR(CheckMemory(specs, args.device, memory_bytes));
  SeedGenerators(args);
  return model.manifest->format == ModelFormat::kAoti
             ? CreatePackage(model, args, specs)
             : CreateScript(model, args, specs);
}

}  // namespace traza
