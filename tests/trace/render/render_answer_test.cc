// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "tests/support/record_builder.h"
#include "trace/analysis/answer.h"
#include "trace/render/render.h"

namespace traza {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string Render(const Trace& trace, int width = 100) {
  RenderOptions options;
  options.width = width;
  return RenderAnswer(Explain(trace), options);
}

std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  EXPECT_EQ(lines.back(), "") << "the text ends with a newline";
  return lines[lines.size() - 2];
}

TEST(RenderAnswer, EndsWithTheVerdict) {
  const std::string text = Render(MakeCpuTrace(30));

  EXPECT_THAT(LastLine(text),
              StartsWith("Verdict: cpu-only  All work ran on the CPU (4 "
                         "threads): aten::mm takes 59 % of"));
  EXPECT_THAT(text, HasSubstr("\nValidity: VALID  14 of 14 criteria met.\n"));
}

TEST(RenderAnswer, TheVerdictStaysOnOneLineHoweverNarrow) {
  EXPECT_THAT(LastLine(Render(MakeCpuTrace(30), 30)),
              StartsWith("Verdict: cpu-only"));
}

TEST(RenderAnswer, SaysWhatRan) {
  const std::string text = Render(MakeCpuTrace(30));

  EXPECT_THAT(text, StartsWith("matmul_add (eager) on cpu, A CPU\n"));
  EXPECT_THAT(text, HasSubstr("  bias=2d dtype=fp32 size=64\n"));
  EXPECT_THAT(text, HasSubstr("a CPU job has no device work"));
  EXPECT_THAT(text, HasSubstr("Each step: 3 operators: aten::matmul, aten::mm, "
                              "aten::add."));
  EXPECT_THAT(text, HasSubstr("All 30 steps have the same."));
  EXPECT_THAT(text, HasSubstr("Fingerprint "));
  EXPECT_THAT(text, HasSubstr("Output: finite, sum 12.5, norm 64.25;"));
}

TEST(RenderAnswer, ShowsTheStepsAndWhatTracingAdds) {
  Trace trace = MakeCpuTrace(30);
  trace.header.timed.batch_ns.assign(30, 10'000);

  const std::string text = Render(trace);

  EXPECT_THAT(text, HasSubstr("timed      30  10.0 us"));
  EXPECT_THAT(text, HasSubstr("traced     30  11.6 us"));
  EXPECT_THAT(text, HasSubstr("Tracing adds 1.59 us +- "));
}

TEST(RenderAnswer, AnOverheadWithinTheNoiseIsNotBoasted) {
  EXPECT_THAT(Render(MakeCpuTrace(30)),
              HasSubstr("Tracing adds nothing that the spread lets see"));
}

TEST(RenderAnswer, ShowsWhatWasExpectedAndWhyItWasWhereItIsNotMet) {
  Trace trace = MakeGpuTrace(30);
  trace.header.expectations = {
      {"kernels_per_step == 2", "A product and an addition."},
      {"kernels_per_step(/add/) == 0", "The addition is fused."}};

  EXPECT_THAT(Render(trace),
              HasSubstr("Expected before it ran:\n"
                        "  FAIL     kernels_per_step(/add/) == 0\n"
                        "           kernels_per_step(/add/) is 1, expected == "
                        "0.\n"
                        "           Expected because: The addition is fused.\n"
                        "  PASS     kernels_per_step == 2\n"));
}

TEST(RenderAnswer, ListsMissedCriteriaWithAdvice) {
  const std::string text = Render(MakeCpuTrace(3));

  EXPECT_THAT(text, HasSubstr("Not met:\n  traced-steps  3 steps (wanted: at "
                              "least 10 steps).\n"));
  EXPECT_THAT(text, HasSubstr("--traced-steps 30."));
  EXPECT_THAT(text, HasSubstr("Validity: UNSTABLE  13 of 14 criteria met."));
  EXPECT_THAT(LastLine(text), HasSubstr("Confidence 90 %."));
}

TEST(RenderAnswer, ListsFindings) {
  RecordBuilder builder;
  builder.Step(Phase::kCold, 0, 0, 12'000'000);
  for (int i = 0; i < 30; ++i) {
    const int64_t at = 20'000'000 + 20'000 * i;
    builder.Step(Phase::kTraced, i, at, at + 12'000).Op("mm", at, at + 9'000);
  }
  const std::string text = Render(builder.Build(MakeCpuHeader()));

  EXPECT_THAT(text,
              HasSubstr("Findings:\n  info  The first step took 12.0 ms"));
  EXPECT_THAT(text, HasSubstr("[cold-step]"));
  EXPECT_THAT(text, HasSubstr("cold        1  12.0 ms     n/a"));
}

TEST(RenderAnswer, AnInvalidTraceHasNoVerdict) {
  Trace trace = MakeCpuTrace(30);
  trace.header.completeness.dropped_ops = 1'000;

  const std::string text = Render(trace);

  EXPECT_EQ(LastLine(text), "Verdict: none, the trace is INVALID.");
  EXPECT_THAT(text, HasSubstr("dropped_ops 1,000"));
}

TEST(RenderAnswer, CallsWithoutWorkAreCountedWhereThereAreSome) {
  Trace trace = MakeCpuTrace(30);
  EXPECT_THAT(Render(trace), Not(HasSubstr("captured_calls")));
  EXPECT_THAT(Render(trace), HasSubstr("no device to lose records of"));

  trace.header.completeness.captured_calls = 2;
  trace.header.completeness.unsure_gpu = 1;

  const std::string text = Render(trace);
  EXPECT_THAT(text, HasSubstr("captured_calls 2, unsure_gpu 1"));
  EXPECT_THAT(text, Not(HasSubstr("no device to lose records of")));
}

TEST(RenderAnswer, NothingAtAllHasAnAnswerToo) {
  EXPECT_EQ(LastLine(Render(Trace())), "Verdict: none, the trace is INVALID.");
}

TEST(RenderAnswer, ShowsDevices) {
  const std::string text = Render(MakeGpuTrace(30));

  EXPECT_THAT(text, HasSubstr("\nDevice 0 "));
  EXPECT_THAT(text, HasSubstr("\nbusy "));
  EXPECT_THAT(text, HasSubstr("\n  host: nothing launched yet "));
  EXPECT_THAT(text, HasSubstr("\n  launch: called, not begun "));
  EXPECT_THAT(text, HasSubstr("\nwindow, 60 records "));
  EXPECT_THAT(text, HasSubstr("Launch latency: median "));
  EXPECT_THAT(text, HasSubstr("Each step: 2 device records: nvjet_sm90"));
  EXPECT_THAT(text, HasSubstr("\n  its CPU "));
}

TEST(RenderAnswer, OfSeveralStreamsItSaysHowManyWorkAtOnce) {
  RecordBuilder builder;
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 100'000;
    builder.Step(Phase::kTraced, i, at, at + 99'000)
        .Call("cuLaunchKernel", at, at + 2'000, 2 * i)
        .Call("cuLaunchKernel", at + 3'000, at + 5'000, 2 * i + 1)
        .OnDevice(0, 7)
        .Kernel("a", at + 10'000, at + 60'000, 2 * i)
        .OnDevice(0, 8)
        .Kernel("b", at + 20'000, at + 50'000, 2 * i + 1);
  }

  EXPECT_THAT(Render(builder.Build(MakeGpuTrace(1).header)),
              HasSubstr("%; while the device works, 1.6 of them at once on"));
}

TEST(RenderAnswer, TheVerdictOfADeviceShowsWhatItRestsOn) {
  const std::string text = Render(MakeGpuTrace(30));

  EXPECT_THAT(LastLine(text),
              StartsWith("Verdict: overhead-bound  The device works "));
  EXPECT_THAT(text, HasSubstr("The verdict rests on"));
  EXPECT_THAT(text, HasSubstr("overhead-bound from 50 %"));
  EXPECT_THAT(text, HasSubstr("Less sure because: tracing adds "));
}

TEST(RenderAnswer, WhatIsUnknownOfADeviceIsNotZero) {
  RecordBuilder builder;
  builder.InPhase(Phase::kTraced, 0, 100'000);
  for (int i = 0; i < 30; ++i) {
    const int64_t at = i * 1'000;
    builder.Step(Phase::kTraced, i, at, at + 900)
        .Kernel("gemm", at + 100, at + 200, i);
  }
  Header header = MakeGpuTrace(1).header;
  header.job.depth = Depth::kKernels;

  const std::string text = Render(builder.Build(std::move(header)));

  EXPECT_THAT(text, HasSubstr("\n  unknown: no call recorded "));
  EXPECT_THAT(text, Not(HasSubstr("host: nothing launched")));
  EXPECT_THAT(text, Not(HasSubstr("Launches:")));
  EXPECT_THAT(text, HasSubstr("No verdict: launches were not recorded"));
  EXPECT_EQ(LastLine(text), "Verdict: none, the note at the top says why.");
}

TEST(RenderAnswer, PerturbedStepsAreNamed) {
  RecordBuilder builder;
  for (int i = 0; i < 20; ++i) {
    const int64_t at = i * 1'000;
    builder.Step(Phase::kTraced, i, at, at + 900)
        .Call("cuLaunchKernel", at + 10, at + 50, i + 1)
        .Kernel("gemm", at + 100, at + 200, i + 1);
  }
  builder.Overhead("Buffer Flush", 3'100, 4'500);
  Header header = MakeGpuTrace(1).header;
  header.collector = "cupti";

  EXPECT_THAT(Render(builder.Build(std::move(header))),
              HasSubstr("Left out of the traced: 2 of 20 steps, in which the "
                        "tracer was at work: 3, 4.\n"));
}

TEST(RenderAnswer, AnOutputThatIsNotFiniteIsLoud) {
  Trace trace = MakeCpuTrace(30);
  trace.header.fingerprint->finite = false;
  EXPECT_THAT(Render(trace), HasSubstr("NOT FINITE"));
}

TEST(RenderAnswer, UnknownCountersAreSaidToBe) {
  Trace trace = MakeGpuTrace(30);
  trace.header.completeness.dropped = std::nullopt;
  EXPECT_THAT(Render(trace, 0), HasSubstr("unknown: dropped."));
  EXPECT_THAT(Render(MakeCpuTrace(30), 0),
              HasSubstr("no device to lose records of"));
}

TEST(RenderAnswer, ForeignTextCannotWriteToTheTerminal) {
  Trace trace = MakeCpuTrace(30);
  trace.header.device.model = "evil\x1b]0;title\x07";
  trace.header.collector_note = "two\nlines\x1b[2J";
  trace.header.job.params = {{"k\x1b[1m", "v\r"}};

  EXPECT_THAT(Render(trace), Not(HasSubstr("\x1b")));
}

TEST(RenderAnswer, FitsTheTerminal) {
  for (const int width : {60, 80, 100}) {
    for (const Trace& trace : {MakeCpuTrace(3), MakeGpuTrace(30)}) {
      const std::string text = Render(trace, width);
      const std::vector<std::string> lines = absl::StrSplit(text, '\n');
      for (size_t i = 0; i + 2 < lines.size(); ++i) {
        EXPECT_LE(DisplayWidth(lines[i]), width) << lines[i];
      }
    }
  }
}

TEST(Format, QuantitiesAreReadable) {
  EXPECT_EQ(FormatNs(45'600), "45.6 us");
  EXPECT_EQ(FormatBytes(1.5 * 1024 * 1024), "1.5 MiB");
}

}  // namespace
}  // namespace traza
