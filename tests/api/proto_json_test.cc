// SPDX-License-Identifier: Apache-2.0
#include "api/proto_json.h"

#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "traza/v1/host.pb.h"
#include "traza/v1/job.pb.h"
#include "traza/v1/job_service.pb.h"
#include "traza/v1/trace.pb.h"

namespace traza {
namespace {

constexpr JsonOptions kOneLine{.indent = 0};

TEST(ProtoJson, IndentsByTwo) {
  v1::Progress progress;
  progress.set_phase(v1::PHASE_COLD);
  progress.set_done(3);

  EXPECT_EQ(ToJsonText(progress),
            "{\n  \"phase\": \"cold\",\n  \"done\": 3\n}");
}

TEST(ProtoJson, IndentsWhatIsNested) {
  v1::Structure structure;
  v1::StructureItem* item = structure.add_per_step();
  item->set_kind(v1::EVENT_KIND_KERNEL);
  item->set_name("gemm");
  item->set_count(1);

  EXPECT_EQ(ToJsonText(structure), R"({
  "per_step": [
    {
      "kind": "kernel",
      "name": "gemm",
      "count": 1
    }
  ],
  "stable": false,
  "steps": 0,
  "deviating_steps": 0,
  "averaged": false,
  "order": [],
  "records": 0,
  "reordered_steps": 0,
  "fingerprint": "",
  "work_fingerprint": ""
})");
}

TEST(ProtoJson, EmptyListsAndMapsAreThere) {
  EXPECT_EQ(ToJsonText(v1::ListJobsResponse{}),
            "{\n  \"jobs\": [],\n  \"next_page_token\": \"\"\n}");
}

TEST(ProtoJson, SixtyFourBitIntegersAreNumbers) {
  v1::TableRow row;
  row.set_count(std::numeric_limits<int64_t>::max());
  row.set_self_cpu_ns(std::numeric_limits<int64_t>::min());

  EXPECT_EQ(ToJsonText(row, kOneLine),
            R"({"name":"","count":9223372036854775807,)"
            R"("self_cpu_ns":-9223372036854775808})");
}

TEST(ProtoJson, ZeroThatIsKnownIsPrinted) {
  v1::TableRow row;
  row.set_self_cpu_ns(0);

  EXPECT_EQ(ToJsonText(row, kOneLine),
            R"({"name":"","count":0,"self_cpu_ns":0})");
}

TEST(ProtoJson, DoublesReadBackEqualAndNanIsNull) {
  v1::Fingerprint print;
  print.set_sum(0.1);
  print.set_norm(std::numeric_limits<double>::quiet_NaN());

  EXPECT_EQ(ToJsonText(print, kOneLine),
            R"({"finite":false,"sum":0.1,"norm":null,"elements":0,)"
            R"("dtype":"","shape":""})");
}

TEST(ProtoJson, InfinityIsNull) {
  v1::Number number;
  number.set_value(std::numeric_limits<double>::infinity());

  EXPECT_EQ(ToJsonText(number, kOneLine), R"({"value":null,"unit":""})");
}

TEST(ProtoJson, EnumOfANewerServerIsItsNumber) {
  v1::Progress progress;
  progress.set_phase(static_cast<v1::Phase>(99));

  EXPECT_EQ(ToJsonText(progress, kOneLine), R"({"phase":99,"done":0})");
}

TEST(ProtoJson, UnspecifiedEnumIsLeftOut) {
  EXPECT_EQ(ToJsonText(v1::Progress{}, kOneLine), R"({"done":0})");
}

TEST(ProtoJson, MapsAreSortedByKey) {
  v1::JobRequest request;
  (*request.mutable_labels())["b"] = "2";
  (*request.mutable_labels())["a"] = "1";
  (*request.mutable_labels())["c"] = "3";

  EXPECT_EQ(
      ToJsonText(request, kOneLine),
      R"({"workload":"","params":{},"labels":{"a":"1","b":"2","c":"3"}})");
}

TEST(ProtoJson, OneofShowsTheMemberThatIsSet) {
  v1::Warmup warmup;
  warmup.set_steps(0);

  EXPECT_EQ(ToJsonText(warmup, kOneLine), R"({"steps":0})");
}

TEST(ProtoJson, StringsAreEscaped) {
  v1::HealthReason reason;
  reason.set_component("\"\\\n\t\r\x01\x7f");
  reason.set_message("\xC3\xA9");

  EXPECT_EQ(ToJsonText(reason, kOneLine),
            "{\"component\":\"\\\"\\\\\\n\\t\\r\\u0001\\u007f\","
            "\"message\":\"\xC3\xA9\"}");
}

TEST(ProtoJson, BytesAreBase64) {
  v1::FileChunk chunk;
  chunk.set_data("abcd");

  EXPECT_EQ(ToJsonText(chunk, kOneLine),
            R"({"offset":0,"data":"YWJjZA==","last":false})");
}

TEST(ProtoJson, DurationsKeepTheirNanoseconds) {
  v1::Prediction prediction;
  prediction.mutable_step()->set_nanos(1);
  prediction.mutable_total()->set_seconds(-1);
  prediction.mutable_total()->set_nanos(-500'000'000);

  EXPECT_EQ(ToJsonText(prediction, kOneLine),
            R"({"step":"0.000000001s","total":"-1.5s"})");
}

}  // namespace
}  // namespace traza
