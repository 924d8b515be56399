#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How bench/series.py judges: on what traza would say of a right reproduction
on an H200, and of one in which a single thing is wrong.

usage: series_test.py BENCH_FOLDER
"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(sys.argv.pop(1))
sys.path.insert(0, str(BENCH))
import series  # noqa: E402
import series_rows  # noqa: E402
import series_statements  # noqa: E402

MM64 = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT"
MM4096 = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_NNT"
UP = "nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
DOWN = "nvjet_sm90_tst_192x128_64x5_1x2_h_bz_coopB_TNT"
ADD = "void at::native::vectorized_elementwise_kernel<8, CUDAFunctor_add>"
GELU = "void at::native::vectorized_elementwise_kernel<8, GeluCUDAKernelImpl>"
MUL = "void at::native::vectorized_elementwise_kernel<8, MulFunctor>"
MASK = "void at::native::masked_fill_kernel"
SOFTMAX = "void softmax_warp_forward"
BMM = "nvjet_sm90_tst_64x512_64x2_1x2_h_bz_coopB_NNT"
LINEAR = "nvjet_sm90_tst_64x8_64x16_1x2_h_bz_bias_TNT"
COPY = "Memcpy DtoD (Device -> Device)"

STEPS = 30


def work(*items):
    """[(kind, name, operators, ns)] of a step."""
    return [item if isinstance(item, tuple) else ("kernel", item, "", 10_000)
            for item in items]


MLP = [("kernel", UP, "aten::linear > aten::matmul > aten::mm", 55_000)] * 2
PROJECT = ("kernel", DOWN, "aten::linear > aten::matmul > aten::mm", 51_000)
ATTENTION = work(BMM, MUL, MASK, SOFTMAX, BMM)
MASK_OF_MATH = "void triu_tril_kernel<bool, true>"
FP32_MM = "cutlass_80_simt_sgemm_128x64_8x5_nn_align1"

# run -> work of a step, what a step takes on the CPU in ns.
WORK = {
    "mm64_cold": (work(MM64, ADD), 32_000),
    "mm64": (work(("kernel", MM64, "aten::mm", 1_900),
                  ("kernel", ADD, "aten::add", 900)), 32_000),
    "mm64_1d": (work(MM64, ADD), 32_000),
    "mm4096": (work(("kernel", MM4096, "aten::mm", 170_000),
                    ("kernel", ADD, "aten::add", 22_000)), 34_000),
    "mm4096_1d": (work(MM4096, ADD), 34_000),
    "mm4096_compiled": (work(("copy", COPY, "", 15_000), ("fill", "Memset", "",
                                                          800),
                             MM4096.replace("_bz_", "_badd_")), 30_000),
    "mm4096_compiled_1d": (work(MM4096.replace("_NNT", "_bias_NNT")), 30_000),
    "mm3d": (work(MM64, ADD), 34_000),
    "linear": (work(LINEAR), 30_000),
    "linear_compiled": (work(LINEAR), 30_000),
    "geglu": (MLP + [("kernel", GELU, "aten::gelu", 31_000),
                     ("kernel", MUL, "aten::mul", 36_000), PROJECT], 110_000),
    "geglu_compiled": (MLP + [("kernel", "triton_poi_fused_gelu_mul_0", "",
                               37_000), PROJECT], 60_000),
    "geglu_fused": (MLP + [("kernel", "traza_geglu_tanh", "traza::geglu_tanh",
                            36_500), PROJECT], 90_000),
    "attn_naive": (ATTENTION[:2] + [("copy", COPY, "", 127_000)] +
                   ATTENTION[2:], 150_000),
    "attn_inplace": (ATTENTION, 140_000),
    "attn_math": (work(*[(("kernel", name, "", 100_000)) for name in
                         [FP32_MM, MASK_OF_MATH, SOFTMAX] + [MUL] * 9]),
                  400_000),
    "attn_flash": (work("void pytorch_flash::flash_fwd_kernel<x>"), 90_000),
    "attn_efficient": (work("fmha_cutlassF_bf16_aligned_64x64_rf_sm80"), 90_000),
    "attn_cudnn": (work("cudnn_generated_fort_native_sdpa_sm90_wgmma"), 90_000),
}


def occupancy_of(name):
    if name.startswith("nvjet"):
        return 0.1705 if "_1x4_" in name else 0.1875
    return 0.125 if "flash_fwd" in name else 1


def stats(median, **more):
    return {"count": STEPS, "median_ns": median, "mad_ns": median // 100,
            "mean_ns": median, "min_ns": median, "max_ns": 2 * median,
            "p99_ns": 2 * median, "first_ns": [median] * 8, **more}


def kernel_rows(items):
    found = {}
    for kind, name, _, ns in items:
        row = found.setdefault(name, {
            "name": name, "kind": kind, "count": 0, "self_device_ns": 0,
            "p50_ns": ns})
        row["count"] += STEPS
        row["self_device_ns"] += STEPS * ns
        if kind == "kernel":
            row["occupancy"] = occupancy_of(name)
            row["block"] = "384,1,1" if name.startswith("nvjet") else "128,1,1"
    return list(found.values())


def make_run(key):
    items, cpu_ns = WORK[key]
    device_ns = sum(ns for *_, ns in items)
    counts = {}
    for kind, name, *_ in items:
        counts[kind, name] = counts.get((kind, name), 0) + 1
    answer = {
        "verdict": {"kind": "overhead-bound" if "64" in key else
                    "compute-bound"},
        "breakdown": [{"busy_per_step_p50_ns": device_ns}],
        "steps": {"timed": stats(max(cpu_ns, device_ns)),
                  "traced": stats(max(cpu_ns, device_ns)),
                  "traced_host": stats(cpu_ns)},
        "structure": {
            "per_step": [{"kind": kind, "name": name, "count": count}
                         for (kind, name), count in counts.items()],
            "order": [{"kind": kind, "name": name, "ops": path, "count": 1}
                      for kind, name, path, _ in items],
            "stable": True, "steps": STEPS},
        "completeness": {"unmatched_call": 0},
    }
    ops = [{"name": f"aten::{name}", "kind": "op", "count": 3 * STEPS,
            "total_device_ns": 0, "self_device_ns": 0}
           for name in series_statements.FREE_OPS]
    # The work of a compiled region is of no operator: its row is a range.
    compiled = key.endswith("compiled") or key.endswith("compiled_1d")
    ops.append({"name": "compiled_region" if compiled else "aten::work",
                "kind": "range" if compiled else "op", "count": STEPS,
                "total_device_ns": STEPS * device_ns,
                "self_device_ns": STEPS * device_ns})
    cold = {"rows": [{"name": "aten::mm", "kind": "op", "self_cpu_ns": 900},
                     {"name": "Lazy Function Loading", "kind": "overhead",
                      "self_cpu_ns": 77}],
            "totals": {"self_cpu_ns": 900, "overhead_ns": 77}}
    if key == "mm64_cold":
        answer["steps"]["cold"] = stats(
            60_000, count=5, first_ns=[107_000_000, 276_000, 67_000, 47_000])
    asked = series_rows.expressions(key, on_gpu=True)
    run = {
        "job": {"standby": False, "spec": {"traced_steps": STEPS}},
        "answer": answer,
        "checks": {text: {"outcome": "passed", "message": f"{text}, it is."}
                   for text in asked},
        "tables": {
            "op": {"rows": ops, "totals": {"self_cpu_ns": STEPS * cpu_ns,
                                           "self_device_ns": STEPS * device_ns,
                                           "unattributed_device_ns":
                                               STEPS * device_ns if compiled
                                               else 0}},
            "kernel": {"rows": kernel_rows(items),
                       "totals": {"self_device_ns": STEPS * device_ns}},
            "step": {"rows": [{"name": f"traced {i}", "kind": "step"}
                              for i in range(STEPS)]},
            "op_cold": cold,
        },
    }
    if key in series_rows.SAME_OUTPUT:
        run["same_output"] = {"outcome": "passed", "message": "alike"}
    return run


def make_runs():
    return {key: make_run(key) for key in series.RUNS}


def outcomes(runs, on_gpu=True):
    return [(line.id, line.text, line.outcome, line.evidence)
            for line in series_statements.judge_all(runs, on_gpu)]


def failed(runs):
    """Ids of the statements that fail."""
    return {line[0] for line in outcomes(runs) if line[2] == "FAIL"}


class ARightReproduction(unittest.TestCase):

    def test_passes_every_statement(self):
        wrong = [line for line in outcomes(make_runs()) if line[2] != "PASS"]
        self.assertEqual(wrong, [])

    def test_is_judged_by_each_row_and_part_of_the_list(self):
        ids = {line[0] for line in outcomes(make_runs())}
        for wanted in [*"1a 1b 1c 1d 2a 2b 3a 3b 3c 4a 4b 4c 4d 4e 4f".split(),
                       "Common", "Output",
                       *[f"1 ({i})" for i in "i ii iii iv v vi".split()],
                       *[f"2 ({i})" for i in "i ii iii iv".split()],
                       *[f"3 ({i})" for i in "i ii iii iv v".split()]]:
            self.assertIn(wanted, ids)

    def test_gives_evidence_for_each(self):
        for line in outcomes(make_runs()):
            self.assertTrue(line[3], line)


class OneThingWrong(unittest.TestCase):
    """Each fault is found by the statement that it is about."""

    def setUp(self):
        self.runs = make_runs()

    def assert_fails(self, *ids):
        self.assertEqual(failed(self.runs), set(ids))

    def table(self, key, table):
        return self.runs[key]["tables"][table]

    def steps(self, key):
        return self.runs[key]["answer"]["steps"]

    def structure(self, key):
        return self.runs[key]["answer"]["structure"]

    def test_a_check_that_fails_or_is_unknown(self):
        for outcome in ("failed", "unknown"):
            checks = self.runs["geglu"]["checks"]
            checks["kernels_per_step == 5"]["outcome"] = outcome
            self.assert_fails("3a")

    def test_work_without_a_call(self):
        self.runs["linear"]["answer"]["completeness"]["unmatched_call"] = 2
        self.assert_fails("Common")

    def test_an_unknown_counter_is_not_zero(self):
        del self.runs["linear"]["answer"]["completeness"]["unmatched_call"]
        self.assert_fails("Common")

    def test_a_row_that_not_every_step_has(self):
        self.table("geglu", "op")["rows"][0]["count"] += 1
        self.assert_fails("Common")

    def test_work_that_counts_twice(self):
        self.table("geglu", "op")["rows"][-1]["self_device_ns"] *= 2
        self.assert_fails("Common")

    def test_artefacts_in_the_totals(self):
        self.table("mm64_cold", "op_cold")["totals"]["self_cpu_ns"] += 77
        self.assert_fails("Common")

    def test_a_cold_run_on_a_used_worker(self):
        self.runs["mm64_cold"]["job"]["standby"] = True
        self.assert_fails("Common")

    def test_samples_that_were_dropped(self):
        self.table("geglu", "step")["rows"].pop()
        self.assert_fails("Common")

    def test_a_verdict_that_does_not_tell_64_from_4096(self):
        self.runs["mm4096"]["answer"]["verdict"]["kind"] = "overhead-bound"
        self.assert_fails("1 (i)")

    def test_a_cold_step_like_the_others(self):
        self.steps("mm64_cold")["cold"]["first_ns"][0] = 300_000
        self.assert_fails("1 (ii)")

    def test_cold_steps_that_load_nothing(self):
        self.table("mm64_cold", "op_cold")["rows"][1]["name"] = "Buffer Flush"
        self.assert_fails("1 (ii)")

    def test_a_device_that_is_too_quick(self):
        self.runs["mm4096"]["answer"]["breakdown"][0][
            "busy_per_step_p50_ns"] = 100_000
        self.assert_fails("1 (iii)")

    def test_a_copy_behind_the_product(self):
        self.structure("mm4096_compiled")["order"].reverse()
        self.assert_fails("1b")

    def test_another_product_in_the_compiled_variant(self):
        for item in self.structure("mm4096_compiled")["per_step"]:
            item["name"] = item["name"].replace("256x128", "128x128")
        self.assert_fails("1 (iv)")

    def test_a_copy_of_other_bytes(self):
        self.runs["mm4096_compiled"]["checks"][
            f"bytes_per_step(dtod) == {4096 * 4096 * 2}B"]["outcome"] = "failed"
        self.assert_fails("1 (iv)")

    def test_views_that_cost_device_time(self):
        self.table("geglu", "op")["rows"][0]["total_device_ns"] = 5
        self.assert_fails("2 (i)")

    def test_views_that_are_not_there(self):
        for key in ("geglu", "linear"):
            del self.table(key, "op")["rows"][0]
        self.assert_fails("2 (i)")

    def test_another_kernel_in_the_compiled_linear(self):
        self.structure("linear_compiled")["per_step"][0]["name"] += "_splitK"
        self.assert_fails("2 (ii)")

    def test_another_product_in_the_fused_mlp(self):
        self.structure("geglu_fused")["per_step"][0]["name"] += "_v2"
        self.assert_fails("2 (iii)")

    def test_another_order_in_the_mlp(self):
        order = self.structure("geglu")["order"]
        order[2], order[3] = order[3], order[2]
        self.assert_fails("2 (iii)")

    def test_a_fused_kernel_that_is_slow(self):
        for row in self.table("geglu_fused", "kernel")["rows"]:
            if row["name"] == "traza_geglu_tanh":
                row["p50_ns"] = 45_000
        self.assert_fails("2 (iv)")

    def test_a_fused_kernel_that_is_not_there(self):
        rows = self.table("geglu_fused", "kernel")["rows"]
        rows[:] = [row for row in rows if row["name"] != "traza_geglu_tanh"]
        self.assert_fails("2 (iv)")

    def test_a_copy_that_stays_in_place(self):
        self.structure("attn_inplace")["per_step"].append(
            {"kind": "copy", "name": COPY, "count": 1})
        self.assert_fails("3 (i)")

    def test_math_on_tensor_cores(self):
        for item in self.structure("attn_math")["per_step"]:
            if item["name"] == FP32_MM:
                item["name"] = BMM
        self.assert_fails("3 (ii)")

    def test_the_wrong_backend(self):
        self.structure("attn_cudnn")["per_step"][0]["name"] = "flash_fwd"
        self.assert_fails("3 (iii)")

    def test_flash_slower_than_in_place(self):
        self.runs["attn_flash"]["answer"]["breakdown"][0][
            "busy_per_step_p50_ns"] = 10**9
        self.assert_fails("3 (iv)")

    def test_an_occupancy_of_0(self):
        self.table("linear", "kernel")["rows"][0]["occupancy"] = 0
        self.assert_fails("3 (v)")

    def test_another_occupancy_of_flash(self):
        self.table("attn_flash", "kernel")["rows"][0]["occupancy"] = 0.25
        self.assert_fails("3 (v)")

    def test_another_output(self):
        self.runs["geglu_fused"]["same_output"]["outcome"] = "failed"
        self.assert_fails("Output")

    def test_an_answer_that_lacks_a_part(self):
        del self.runs["mm4096"]["answer"]["breakdown"]
        self.assert_fails("1 (iii)")


class WhatWasNotRun(unittest.TestCase):

    def test_is_skipped_with_the_reason(self):
        runs = make_runs()
        runs["geglu_compiled"] = {"missing": "Variant compiled cannot run"}
        lines = [line for line in outcomes(runs) if line[2] != "PASS"]
        self.assertEqual({line[0] for line in lines},
                         {"3b", "2 (iii)", "2 (iv)"})
        for line in lines:
            self.assertEqual(line[2], "SKIP")
            self.assertIn("Variant compiled cannot run", line[3])

    def test_does_not_hide_a_fault_beside_it(self):
        runs = make_runs()
        runs["mm64_1d"] = {"missing": "refused"}
        runs["mm64"]["checks"]["kernels_per_step == 2"]["outcome"] = "failed"
        self.assertIn("1a", failed(runs))

    def test_without_a_gpu_device_statements_are_skipped(self):
        runs = {key: run for key, run in make_runs().items()
                if not key.startswith("attn")}
        lines = outcomes(runs, on_gpu=False)
        self.assertNotIn("FAIL", {line[2] for line in lines})
        passed = {(line[0], line[1]) for line in lines if line[2] == "PASS"}
        self.assertIn(("1a", "operators"), passed)
        self.assertIn(("3a", "operators"), passed)
        self.assertNotIn(("1a", "device work"), passed)


class TheProgram(unittest.TestCase):

    def judge(self, runs, device="gpu0"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "kept.json"
            path.write_text(json.dumps({"device": device, "runs": runs}),
                            encoding="utf-8")
            return subprocess.run(
                [sys.executable, "-B", BENCH / "series.py", "--judge", path],
                capture_output=True, text=True, timeout=60, check=False)

    def test_success_is_0(self):
        done = self.judge(make_runs())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"Result: \d+ PASS, 0 FAIL, 0 SKIP\n$")

    def test_a_fault_is_1(self):
        runs = copy.deepcopy(make_runs())
        runs["geglu"]["checks"]["kernels_per_step == 5"]["outcome"] = "failed"
        done = self.judge(runs)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, r"(?m)^FAIL  3a ")

    def test_nothing_that_could_be_tried_is_77(self):
        runs = {key: {"missing": "refused"} for key in series.RUNS}
        self.assertEqual(self.judge(runs).returncode, 77)


if __name__ == "__main__":
    unittest.main()
