// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_inputs.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

#include "base/utf8.h"
#include "trace/file/json_number.h"

namespace traza {
namespace {

using Kind = OpInput::Kind;

// Longer ones are no inputs of an operator; tensor lists have some kilobytes.
constexpr size_t kMaxInputBytes = 64 << 10;

// Reads the little JSON that inputs are made of, from the front.
class InputText {
 public:
  explicit InputText(absl::string_view text) : left_(text) {}

  bool Take(char byte) {
    left_ = absl::StripLeadingAsciiWhitespace(left_);
    if (left_.empty() || left_[0] != byte) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool NextIs(char byte) {
    left_ = absl::StripLeadingAsciiWhitespace(left_);
    return !left_.empty() && left_[0] == byte;
  }
  std::optional<int64_t> TakeNumber() {
    left_ = absl::StripLeadingAsciiWhitespace(left_);
    const size_t size =
        std::min(left_.find_first_of(",] \t\r\n"), left_.size());
    const absl::string_view token = left_.substr(0, size);
    left_.remove_prefix(size);
    return ScaledInteger(token, 0);
  }
  std::optional<absl::string_view> TakeString() {
    if (!Take('"')) return std::nullopt;
    const size_t size = left_.find('"');
    if (size == absl::string_view::npos) return std::nullopt;
    const absl::string_view text = left_.substr(0, size);
    left_.remove_prefix(size + 1);
    return text;
  }

 private:
  absl::string_view left_;
};

// "[64,64]", or a list of those: no deeper, whatever the text says.
std::optional<OpInput> ReadDims(InputText* text, bool inside_list) {
  OpInput input;
  if (!text->Take('[')) return std::nullopt;
  if (text->Take(']')) return input;
  do {
    if (text->NextIs('[')) {
      std::optional<OpInput> item =
          inside_list ? std::nullopt : ReadDims(text, true);
      if (!item.has_value()) return std::nullopt;
      item->kind = Kind::kTensor;
      input.items.push_back(*std::move(item));
    } else {
      const std::optional<int64_t> size = text->TakeNumber();
      if (!size.has_value()) return std::nullopt;
      input.sizes.push_back(*size);
    }
  } while (text->Take(','));
  if (!text->Take(']')) return std::nullopt;
  return input;
}

// Calls `read` for each element of an array; false where one cannot be read.
template <typename Reader>
bool ForEachElement(absl::string_view json, Reader&& read) {
  InputText text(json);
  if (!text.Take('[')) return false;
  if (text.Take(']')) return true;
  do {
    if (!read(&text)) return false;
  } while (text.Take(','));
  return text.Take(']');
}

// As c10::ScalarType is spelled in traces of ours; Kineto has C++ types.
absl::string_view DtypeName(absl::string_view type) {
  constexpr std::array<std::array<absl::string_view, 2>, 14> kNames = {{
      {"long int", "long"},
      {"long", "long"},
      {"long long", "long"},
      {"c10::BFloat16", "bfloat16"},
      {"c10::Half", "half"},
      {"unsigned char", "byte"},
      {"signed char", "char"},
      {"short int", "short"},
      {"c10::complex<float>", "complexfloat"},
      {"c10::complex<double>", "complexdouble"},
      {"c10::complex<c10::Half>", "complexhalf"},
      {"c10::Float8_e4m3fn", "float8_e4m3fn"},
      {"c10::Float8_e5m2", "float8_e5m2"},
      {"c10::qint8", "qint8"},
  }};
  for (const auto& [theirs, ours] : kNames) {
    if (type == theirs) return ours;
  }
  return type;
}

void SetKind(absl::string_view type, OpInput* input) {
  if (type == "TensorList" || !input->items.empty()) {
    input->kind = Kind::kList;
  } else if (type == "Scalar") {
    input->kind = Kind::kScalar;
  } else if (type.empty() || type == "ScalarList" || type == "GenericList" ||
             type == "Device" || type == "None") {
    input->kind = Kind::kOther;
  } else {
    input->kind = Kind::kTensor;
  }
}

}  // namespace

int KinetoInputs::DtypeOf(absl::string_view type) {
  const std::string name = ToValidUtf8(DtypeName(type));
  const auto found = std::ranges::find(dtypes_, name);
  if (found != dtypes_.end()) return static_cast<int>(found - dtypes_.begin());
  dtypes_.push_back(name);
  return static_cast<int>(dtypes_.size() - 1);
}

KinetoInputs::Texts KinetoInputs::Read(absl::string_view dims,
                                       absl::string_view types,
                                       NameTable* names) {
  Texts texts;
  std::vector<OpInput> inputs;
  const bool have_dims = ForEachElement(dims, [&](InputText* text) {
    std::optional<OpInput> input = ReadDims(text, false);
    if (!input.has_value()) return false;
    inputs.push_back(*std::move(input));
    return true;
  });
  if (!have_dims) return texts;
  size_t next = 0;
  const bool have_types = ForEachElement(types, [&](InputText* text) {
    const std::optional<absl::string_view> type = text->TakeString();
    if (!type.has_value() || next == inputs.size()) return false;
    OpInput& input = inputs[next++];
    SetKind(*type, &input);
    if (input.kind == Kind::kTensor) input.dtype = DtypeOf(*type);
    return true;
  });
  texts.shapes = names->Intern(ShapesText(inputs));
  if (!have_types || next != inputs.size()) return texts;
  texts.dtypes = names->Intern(DtypesText(inputs, dtypes_));
  texts.inputs = std::move(inputs);
  return texts;
}

void KinetoInputs::Decode(absl::string_view dims, absl::string_view types,
                          RawHostEvent* event, NameTable* names) {
  if (dims.empty() || dims.size() > kMaxInputBytes ||
      types.size() > kMaxInputBytes) {
    return;
  }
  const auto [found, added] =
      seen_.try_emplace(absl::StrCat(dims, "\n", types));
  Texts& texts = found->second;
  if (added) texts = Read(dims, types, names);
  if (texts.shapes == kNull<int32_t>) {
    seen_.erase(found);  // a file may be full of what cannot be read
    return;
  }
  event->shapes = texts.shapes;
  event->dtypes = texts.dtypes;
  if (texts.inputs.empty()) return;
  const auto [flops, first] = texts.flops.try_emplace(event->name, 0);
  if (first) flops->second = FlopsOf(names->at(event->name), texts.inputs);
  event->flops = flops->second;
}

}  // namespace traza
