// SPDX-License-Identifier: Apache-2.0
#include "trace/file/kineto_cutter.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/status_matchers.h"

namespace traza {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What a cutter made of a text.
struct Cut {
  absl::Status status;
  std::vector<std::string> windows;
  std::vector<std::string> members;  // "key=value"
};

Cut CutUp(absl::string_view text, size_t window_bytes,
          int64_t max_bytes = 1 << 30) {
  const std::unique_ptr<ByteSource> source = MemoryBytes(text);
  KinetoCutter cutter(*source, max_bytes, window_bytes);
  Cut cut;
  for (;;) {
    const absl::StatusOr<absl::string_view> window = cutter.Next();
    cut.status = window.status();
    if (!window.ok() || window->empty()) break;
    cut.windows.emplace_back(*window);
  }
  for (const KinetoMember& member : cutter.members()) {
    cut.members.push_back(absl::StrCat(member.key, "=", member.value));
  }
  return cut;
}

// The events of all windows on end, as one list.
std::string Joined(const Cut& cut) {
  std::vector<std::string> events;
  for (const std::string& window : cut.windows) {
    events.push_back(window.substr(1, window.size() - 2));
  }
  return absl::StrJoin(events, ",");
}

constexpr char kDocument[] = R"( {"a": 1, "b": ["}", {"c": "]"}],
  "traceEvents": [{"x": "]}\"{"}, {"y": [[1], {}]} ,{}], "d" : "e"} )";
constexpr char kEvents[] = R"({"x": "]}\"{"}, {"y": [[1], {}]} ,{})";

TEST(KinetoCutter, CutsEventsOutAndKeepsMembers) {
  const Cut cut = CutUp(kDocument, 1 << 20);

  EXPECT_THAT(cut.status, IsOk());
  EXPECT_THAT(cut.windows, ElementsAre(absl::StrCat("[", kEvents, "]")));
  EXPECT_THAT(cut.members,
              ElementsAre("a=1", R"(b=["}", {"c": "]"}])", R"(d="e")"));
}

TEST(KinetoCutter, WhereWindowsEndDoesNotMatter) {
  for (size_t bytes = 1; bytes < 150; ++bytes) {
    const Cut cut = CutUp(kDocument, bytes);

    EXPECT_THAT(cut.status, IsOk()) << bytes;
    EXPECT_EQ(cut.members.size(), 3u) << bytes;
    std::string joined = Joined(cut), expected = kEvents;
    for (std::string* text : {&joined, &expected}) {
      text->erase(std::remove(text->begin(), text->end(), ' '), text->end());
    }
    EXPECT_EQ(joined, expected) << bytes;
  }
}

TEST(KinetoCutter, ManyEventsComeInManyWindows) {
  std::vector<std::string> events;
  for (int i = 0; i < 1000; ++i) {
    events.push_back(
        absl::StrCat(R"({"name":"k)", i, R"(","args":{"g":[1,2]}})"));
  }
  const std::string all = absl::StrJoin(events, ",");

  const Cut cut = CutUp(absl::StrCat("[", all, "]"), 1000);

  EXPECT_THAT(cut.status, IsOk());
  EXPECT_GT(cut.windows.size(), 20u);
  EXPECT_EQ(Joined(cut), all);
}

TEST(KinetoCutter, AnEventLongerThanTheWindowIsWhole) {
  const std::string event =
      absl::StrCat(R"({"name":")", std::string(100'000, '{'), R"("})");

  EXPECT_THAT(CutUp(absl::StrCat("[", event, "]"), 64).windows,
              ElementsAre(absl::StrCat("[", event, "]")));
}

TEST(KinetoCutter, ABareArrayMayLackItsBracket) {
  EXPECT_THAT(CutUp("[{\"a\":1},{}]", 64).windows,
              ElementsAre("[{\"a\":1},{}]"));
  EXPECT_THAT(CutUp("[{\"a\":1},{},\n", 64).windows,
              ElementsAre("[{\"a\":1},{}]"));
  EXPECT_THAT(
      CutUp("[{\"a\":1},{", 64).status,
      StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_INCOMPLETE")));
}

TEST(KinetoCutter, AByteOrderMarkAndBlanksComeFirst) {
  EXPECT_THAT(CutUp("\xef\xbb\xbf \r\n[{}]", 64).windows, ElementsAre("[{}]"));
}

TEST(KinetoCutter, NoEventsAreNoWindow) {
  const Cut cut = CutUp(R"({"traceEvents": [ ], "a": 1})", 64);

  EXPECT_THAT(cut.status, IsOk());
  EXPECT_THAT(cut.windows, IsEmpty());
  EXPECT_THAT(cut.members, ElementsAre("a=1"));
}

TEST(KinetoCutter, EveryCutOffDocumentIsIncomplete) {
  const std::string document = kDocument;
  const size_t last = document.rfind('}');
  for (size_t size = 2; size <= last; ++size) {
    EXPECT_THAT(
        CutUp(document.substr(0, size), 64).status,
        StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_INCOMPLETE")))
        << size;
  }
}

TEST(KinetoCutter, OtherFilesAreRefused) {
  for (const char* const text :
       {"", "  ", "hello", "PAR1", "{}", R"({"a": 1})", R"({"traceEvents": 1})",
        R"({"traceEvents": {}})", "{1}", R"({"a" 1})",
        R"({"traceEvents": [}]})", R"({"traceEvents": [{}}]})"}) {
    EXPECT_THAT(CutUp(text, 64).status,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasReason("TRACE_UNREADABLE")))
        << text;
  }
}

TEST(KinetoCutter, OneCommaPartsTwoEventsAlsoWhereAWindowEnds) {
  const std::string event =
      absl::StrCat(R"({"name":")", std::string(200, 'x'), R"("})");
  const auto status = [&event](absl::string_view between,
                               absl::string_view after) {
    return CutUp(absl::StrCat("[", event, between, event, after, "]"), 1)
        .status;
  };

  EXPECT_THAT(status(" , ", ""), IsOk());
  EXPECT_THAT(status(",", ","), IsOk()) << "one after the last is forgiven";
  EXPECT_THAT(status(",,", ""), HasReason("TRACE_UNREADABLE"));
  EXPECT_THAT(status(" ", ""), HasReason("TRACE_UNREADABLE"));
  EXPECT_THAT(status(",", ",,"), HasReason("TRACE_UNREADABLE"));
  EXPECT_THAT(CutUp("[,]", 1).status, HasReason("TRACE_UNREADABLE"));
}

TEST(KinetoCutter, TextAfterTheDocumentIsDamage) {
  EXPECT_THAT(
      CutUp(R"({"traceEvents": []} x)", 64).status,
      StatusIs(absl::StatusCode::kDataLoss, HasReason("TRACE_INCOMPLETE")));
  EXPECT_THAT(CutUp(absl::string_view("[{}]\n\0\0", 7), 64).status, IsOk());
}

TEST(KinetoCutter, LongMembersAreKeptByNameOnly) {
  const std::string text = absl::StrCat(
      R"({"long": ")", std::string(KinetoCutter::kMaxMemberBytes, 'x'),
      R"(", "traceEvents": []})");

  EXPECT_THAT(CutUp(text, 64).members, ElementsAre("long="));
}

TEST(KinetoCutter, StopsAtTheLimits) {
  EXPECT_THAT(
      CutUp(absl::StrCat("[", std::string(1000, ' '), "]"), 64, 500).status,
      StatusIs(absl::StatusCode::kResourceExhausted,
               HasReason("TRACE_TOO_LARGE")));
  const std::string huge = absl::StrCat(
      R"([{"a":")", std::string(2 * KinetoCutter::kMaxEventBytes, 'x'));
  EXPECT_THAT(CutUp(huge, 1 << 20).status,
              StatusIs(absl::StatusCode::kResourceExhausted,
                       HasReason("TRACE_TOO_LARGE")));
}

}  // namespace
}  // namespace traza
