# SPDX-License-Identifier: Apache-2.0
"""The table of the series: what each experiment runs in a step, as expectations
of `traza check`, and what came of them."""

import collections

Line = collections.namedtuple("Line", "id outcome text evidence")

SCORES_BYTES = 8 * 16 * 1024 * 1024 * 2
MATRIX_BYTES = 4096 * 4096 * 2

MATRIX_KERNELS = "kernels_per_step(/gemm|nvjet|cutlass/)"


def ops(**counts):
    """Expectations of ATen operators."""
    return [f"ops_per_step(aten::{name}) == {count}"
            for name, count in counts.items()]


# id -> (runs, of device work, of operators).
ROWS = {
    "1a": (["mm64", "mm64_1d", "mm4096", "mm4096_1d"],
           ["kernels_per_step == 2", f"{MATRIX_KERNELS} == 1",
            "copies_per_step == 0"],
           ops(matmul=1, mm=1, add=1)),
    "1b": (["mm4096_compiled"],
           ["kernels_per_step == 1", f"{MATRIX_KERNELS} == 1",
            "copies_per_step == 1", "copies_per_step(dtod) == 1"],
           ops(add=0)),
    "1c": (["mm4096_compiled_1d"],
           ["kernels_per_step == 1", f"{MATRIX_KERNELS} == 1",
            "copies_per_step == 0"],
           ops(add=0)),
    "1d": (["mm3d"],
           ["kernels_per_step == 2", f"{MATRIX_KERNELS} == 1",
            "copies_per_step == 0"],
           ops(matmul=1, bmm=1, mm=0, add=1)),
    "2a": (["linear"],
           ["kernels_per_step == 1", "copies_per_step == 0"],
           ops(linear=1, t=1, transpose=1, addmm=1, add=0)),
    "2b": (["linear_compiled"],
           ["kernels_per_step == 1", "copies_per_step == 0"],
           ops(t=0)),
    "3a": (["geglu"],
           ["kernels_per_step == 5", f"{MATRIX_KERNELS} == 3",
            "copies_per_step == 0"],
           ops(linear=3, t=3, transpose=3, as_strided=3, matmul=3, reshape=3,
               view=3, mm=3, _unsafe_view=3, gelu=1, mul=1)),
    "3b": (["geglu_compiled"],
           ["kernels_per_step == 4", f"{MATRIX_KERNELS} == 3",
            "copies_per_step == 0"],
           ops(gelu=0, mul=0)),
    "3c": (["geglu_fused"],
           ["kernels_per_step == 4", f"{MATRIX_KERNELS} == 3",
            "copies_per_step == 0"],
           ops(linear=3, gelu=0, mul=0) +
           ["ops_per_step(traza::geglu_tanh) == 1"]),
    "4a": (["attn_naive"],
           ["kernels_per_step == 5", "copies_per_step == 1",
            "copies_per_step(dtod) == 1"],
           ops(matmul=2, bmm=2, mul=1, masked_fill=1, clone=1, masked_fill_=1,
               softmax=1)),
    "4b": (["attn_inplace"],
           ["kernels_per_step == 5", "copies_per_step == 0"],
           ops(matmul=2, bmm=2, mul=1, masked_fill=0, clone=0, masked_fill_=1,
               softmax=1)),
    "4c": (["attn_math"],
           ["kernels_per_step >= 10", "copies_per_step == 0"],
           ops(_scaled_dot_product_attention_math=1, _safe_softmax=1)),
    "4d": (["attn_flash"],
           ["kernels_per_step == 1", "copies_per_step == 0"],
           ops(transpose=4)),
    "4e": (["attn_efficient"],
           ["kernels_per_step == 1", "copies_per_step == 0"],
           ops(transpose=4)),
    "4f": (["attn_cudnn"],
           ["kernels_per_step == 1", "copies_per_step == 0"],
           ops(transpose=0)),
}
# On a CPU an operator of the GPU's calls others, or copies where it does not.
NOT_ON_A_CPU = {"4a", "4b", "4c", "4d", "4e", "4f"}

# Compared with the trace of another run: {run: (quantity, that run)}.
SAME_OUTPUT = {"geglu_compiled": "geglu", "geglu_fused": "geglu",
               "mm4096_compiled": "mm4096",
               "mm4096_compiled_1d": "mm4096_1d",
               "linear_compiled": "linear", "attn_inplace": "attn_naive",
               "attn_math": "attn_naive", "attn_flash": "attn_naive",
               "attn_efficient": "attn_naive", "attn_cudnn": "attn_naive"}


def expressions(key, on_gpu):
    """What `traza check` is asked about that run, for all statements."""
    asked = ["stable"]
    for row, (keys, device, operators) in ROWS.items():
        if key in keys:
            asked += device if on_gpu else []
            asked += operators if on_gpu or row not in NOT_ON_A_CPU else []
    if on_gpu and key == "mm4096_compiled":
        asked.append(f"bytes_per_step(dtod) == {MATRIX_BYTES}B")
    if on_gpu and key == "attn_naive":
        asked.append(f"bytes_per_step(dtod) == {SCORES_BYTES}B")
    return asked


def judge_row(row, runs, on_gpu):
    """The lines of one row of the table: work of the device, operators."""
    keys, device, operators = ROWS[row]
    for part, asked in (("device work", device), ("operators", operators)):
        if part == "device work" and not on_gpu:
            yield Line(row, "SKIP", part, "no device work without a GPU")
            continue
        if part == "operators" and not on_gpu and row in NOT_ON_A_CPU:
            yield Line(row, "SKIP", part, "other operators on a CPU")
            continue
        seen, bad, absent = [], [], []
        for key in keys:
            run = runs.get(key, {"missing": "it was not run"})
            if "missing" in run:
                absent.append(f"{key}: {run['missing']}")
                continue
            for text in asked:
                check = run["checks"].get(text)
                if check is None or check["outcome"] != "passed":
                    bad.append(f"{key}: "
                               f"{check['message'] if check else text}")
            seen.append(key)
        if bad:
            yield Line(row, "FAIL", part, "; ".join(bad))
        elif absent:
            yield Line(row, "SKIP", part, "; ".join(absent))
        else:
            yield Line(row, "PASS", part,
                       f"{', '.join(seen)}: {', '.join(asked)}")
