// SPDX-License-Identifier: Apache-2.0
#include "workloads/compiled.h"

#include <utility>

#include "ATen/core/Tensor.h"
#include "ATen/record_function.h"
#include "c10/core/InferenceMode.h"

#include "base/check.h"
#include "workloads/aoti_package.h"
#include "workloads/tensors.h"

namespace traza {
namespace {

class Compiled : public Workload {
 public:
  Compiled(std::shared_ptr<AotiPackage> package, std::string range,
           std::vector<at::Tensor> inputs)
      : package_(std::move(package)),
        range_(std::move(range)),
        inputs_(std::move(inputs)) {}

  void Step() override {
    const c10::InferenceMode inference;
    RECORD_USER_SCOPE(range_);
    {
      RECORD_USER_SCOPE(kCompiledRange);
      output_ = package_->Run(inputs_).front();
    }
  }

  OutputSummary Output() const override { return Summarize(output_); }

 private:
  const std::shared_ptr<AotiPackage> package_;
  const std::string range_;
  const std::vector<at::Tensor> inputs_;
  at::Tensor output_;
};

}  // namespace

std::unique_ptr<Workload> MakeCompiled(const WorkloadArgs& args,
                                       const CompiledStep& step,
                                       std::string range,
                                       std::vector<at::Tensor> inputs) {
  // The package checks nothing: a wrong shape would read foreign memory.
  TRAZA_CHECK(args.package != nullptr && inputs.size() == step.inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    TRAZA_CHECK(Matches(inputs[i], step.inputs[i]));
  }
  return std::make_unique<Compiled>(args.package, std::move(range),
                                    std::move(inputs));
}

}  // namespace traza
