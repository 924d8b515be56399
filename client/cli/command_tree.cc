// SPDX-License-Identifier: Apache-2.0
#include "client/cli/command_tree.h"

#include <algorithm>
#include <cstddef>

#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include "base/suggest.h"
#include "base/utf8.h"
#include "base/version.h"
#include "client/cli/options.h"
#include "trace/render/display_width.h"

namespace traza {
namespace {

constexpr size_t kHelpColumn = 26;
constexpr int kHelpWidth = 80;

constexpr char kFooter[] =
    "T is a trace id or the path of a trace file.\n"
    "Durations are written 500us, 20ms, 5s, 2m, 1h.\n"
    "Exit codes: 0 ok, 1 the job or a check failed, 2 the request is wrong, 3 "
    "no\n"
    "answer from the daemon, 4 refused, 130 interrupted.\n"
    "Start with: traza workloads, then traza run matmul_add -p size=64";

std::string Shown(absl::string_view word) {
  return EscapeControlCharacters(CutUtf8(word, 60));
}

// "--name=" would take the next word for its value.
const std::string* EmptyAssignment(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word == "--") return nullptr;
    if (absl::StartsWith(word, "--") && word.find('=') == word.size() - 1) {
      return &word;
    }
  }
  return nullptr;
}

void CollectOptionNames(const CLI::App& app, std::vector<std::string>* names) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) {
      names->push_back(absl::StrCat("--", name));
    }
  }
}

// Wraps, and shows the kind of value only: CLI11 would add "..." to every
// option with one, since all of them are lists for it.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kHelpColumn);
    label("SUBCOMMAND", "COMMAND");
  }
  std::string make_option_desc(const CLI::Option* option) const override {
    return absl::StrJoin(WrapWords(option->get_description(),
                                   kHelpWidth - static_cast<int>(kHelpColumn)),
                         "\n");
  }
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty()
               ? ""
               : absl::StrCat(" ", option->get_type_name());
  }
};

}  // namespace

CommandTree::CommandTree()
    : app_("traza: what a piece of PyTorch work costs on a GPU host, and why",
           "traza") {
  app_.formatter(std::make_shared<HelpFormatter>());
  app_.set_help_flag("-h,--help", "Print help and exit");
  app_.require_subcommand(1);
  app_.fallthrough();
  app_.footer(kFooter);
  AddText(app_, "--server", &globals_.server,
          "The daemon (else TRAZA_SERVER, ~/.config/traza/config.toml, "
          "127.0.0.1:7719)",
          "HOST:PORT");
  AddDuration(app_, "--timeout", &globals_.timeout,
              "How long the daemon may take to answer (default 10s)");
  app_.add_flag("--json", globals_.json, "Print replies as JSON");
  app_.add_flag("-y,--yes", yes_, "Ask nothing: every answer is yes");
  app_.add_flag("-q,--quiet", quiet_, "Say nothing but errors");
  app_.add_flag("-v,--verbose", verbose_, "Say more");
  app_.add_flag("--version", version_, "Print the version and exit");
}

CLI::App& CommandTree::Add(const std::string& name, const std::string& help,
                           RunCommand run) {
  CLI::App& app = *app_.add_subcommand(name, help);
  app.group("Commands");
  app.add_flag("--json", globals_.json, "Print the reply as JSON");
  app.footer("Options for all commands: traza --help");
  commands_.emplace_back(&app, std::move(run));
  return app;
}

absl::StatusOr<std::optional<RunCommand>> CommandTree::Parse(
    std::vector<std::string> words, std::ostream& out) {
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (const std::string* word = EmptyAssignment(words)) {
    return absl::InvalidArgumentError(
        absl::StrCat(Shown(*word), " has no value."));
  }
  std::ranges::reverse(words);  // as CLI11 wants it
  try {
    app_.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    out << app_.help();
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (version_) {
      out << "traza " << kVersion << " (" << kRevision << ")\n";
      return std::nullopt;
    }
    return absl::InvalidArgumentError(Explain(error));
  }
  for (const auto& [app, run] : commands_) {
    if (app->parsed()) return run;
  }
  return absl::InternalError("No command was parsed.");
}

std::string CommandTree::Explain(const CLI::ParseError& error) {
  // CLI11 would complain about a missing positional first.
  const std::vector<std::string> left = app_.remaining(true);
  if (!left.empty()) return UnknownWord(left.front());
  const std::vector<CLI::App*> parsed = app_.get_subcommands();
  if (parsed.empty()) return "Which command? See: traza --help";
  return absl::StrCat(error.what(),
                      absl::EndsWith(error.what(), ".") ? " " : ". ",
                      "See: traza ", parsed.front()->get_name(), " --help");
}

std::string CommandTree::UnknownWord(const std::string& word) {
  const std::vector<CLI::App*> parsed = app_.get_subcommands();
  std::vector<std::string> known;
  std::string what = "unexpected word";
  if (absl::StartsWith(word, "-")) {
    what = "unknown option";
    CollectOptionNames(app_, &known);
    for (const CLI::App* app : parsed) CollectOptionNames(*app, &known);
  } else if (parsed.empty()) {
    what = "unknown command";
    for (const auto& [app, run] : commands_) known.push_back(app->get_name());
  }
  const std::string near = Suggest(word.substr(0, word.find('=')), known);
  const std::string help =
      parsed.empty()
          ? "traza --help"
          : absl::StrCat("traza ", parsed.front()->get_name(), " --help");
  return absl::StrCat(
      what, " ", Shown(word), ". ",
      near.empty() ? "" : absl::StrCat("Did you mean ", near, "? "),
      "See: ", help);
}

}  // namespace traza
