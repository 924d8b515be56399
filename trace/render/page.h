// SPDX-License-Identifier: Apache-2.0
#ifndef TRACE_RENDER_PAGE_H_
#define TRACE_RENDER_PAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

#include "trace/render/display_width.h"
#include "trace/render/render.h"

namespace traza {

inline constexpr char kIndent[] = "  ";

inline std::string NsOrNone(const std::optional<int64_t>& ns) {
  return ns.has_value() ? FormatNs(static_cast<double>(*ns)) : "n/a";
}

// Text of several lines, in the width of the terminal.
class Page {
 public:
  explicit Page(const RenderOptions& options) : options_(options) {}

  void Line(absl::string_view text) { absl::StrAppend(&text_, text, "\n"); }
  void Blank() {
    if (!text_.empty()) text_ += "\n";
  }
  // `text` after `label`, its further lines indented as deep.
  void Paragraph(absl::string_view label, absl::string_view text) {
    const int indent = DisplayWidth(label);
    // Too narrow to wrap beside the label: let the terminal do it.
    const int room = options_.width - indent;
    bool first = true;
    for (const std::string& line :
         WrapWords(text, options_.width > 0 && room >= 20 ? room : 0)) {
      Line(absl::StrCat(first ? std::string(label)
                              : std::string(static_cast<size_t>(indent), ' '),
                        line));
      first = false;
    }
  }
  void Append(absl::string_view text) { absl::StrAppend(&text_, text); }
  std::string Bold(absl::string_view text) const {
    return options_.color ? absl::StrCat("\033[1m", text, "\033[0m")
                          : std::string(text);
  }
  const RenderOptions& options() const { return options_; }
  std::string Take() { return std::move(text_); }

 private:
  const RenderOptions options_;
  std::string text_;
};

}  // namespace traza

#endif  // TRACE_RENDER_PAGE_H_
