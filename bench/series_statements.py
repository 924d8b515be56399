# SPDX-License-Identifier: Apache-2.0
"""What a reproduction of the series "Profiling in PyTorch" has to show, judged
from what traza says in JSON: nothing here runs anything.

A run is a dictionary: "job", "answer", "checks" {expression: result} and
"tables" {"op", "kernel", "step", "op_cold"}; or "missing", why it is not there.
"""

import collections
import re

from series_rows import (Line, MATRIX_BYTES, ROWS, SCORES_BYTES, judge_row)

MATRIX = re.compile(r"gemm|nvjet|cutlass", re.IGNORECASE)
# Parts of a product's name that tell what is done with the result.
EPILOGUES = {"bz", "badd", "bias", "relu", "gelu", "dgelu", "drelu"}
FREE_OPS = ["t", "transpose", "reshape", "view", "as_strided", "_unsafe_view"]


# ---- What an answer or a table says

def per_step(run, kind):
    """Counter of names: the work of that kind in a step."""
    return collections.Counter({
        item["name"]: item["count"]
        for item in run["answer"]["structure"]["per_step"]
        if item["kind"] == kind})


def matrix_kernels(run):
    return collections.Counter({
        name: count for name, count in per_step(run, "kernel").items()
        if MATRIX.search(name)})


def order(run):
    """[(kind, name, operators)] of a step's work without fills."""
    work = []
    for item in run["answer"]["structure"]["order"]:
        if item["kind"] != "fill":
            work += [(item["kind"], item["name"], item.get("ops", ""))
                     ] * item["count"]
    return work


def core(name):
    """A product's name without its epilogue: "nvjet_.._h_bz_coopA_NNT" and
    "nvjet_.._h_badd_coopA_NNT" are one product."""
    return "_".join(p for p in name.split("_") if p not in EPILOGUES)


def rows(run, table, kind=None):
    return [row for row in run["tables"][table]["rows"]
            if kind is None or row.get("kind") == kind]


def kernel_p50(run, part):
    """Of the only kernel with that part in its name, in ns."""
    found = [row for row in rows(run, "kernel", "kernel")
             if re.search(part, row["name"])]
    if len(found) != 1:
        raise LookupError(f"{len(found)} kernels are called {part}")
    return found[0]["p50_ns"]


def busy_ns(run):
    return run["answer"]["breakdown"][0]["busy_per_step_p50_ns"]


def host_ns(run):
    return run["answer"]["steps"]["traced_host"]["median_ns"]


def us(ns):
    return f"{ns / 1e3:.1f} us"


# ---- The statements

STATEMENTS = []


def statement(name, text, *keys):
    """Registers judge(*runs) -> (holds, evidence)."""
    def add(judge):
        STATEMENTS.append((name, text, keys, judge))
        return judge
    return add


@statement("Common", "device work is joined to calls: none is left over")
def _joined(runs):
    left = {key: run["answer"]["completeness"].get("unmatched_call")
            for key, run in runs.items()}
    return all(count == 0 for count in left.values()), (
        f"unmatched calls {sum(c or 0 for c in left.values())} in "
        f"{len(left)} runs; {[k for k, c in left.items() if c != 0]} not 0")


@statement("Common", "rows of operators are steps times rows of a step")
def _multiples(runs):
    odd = []
    for key, run in runs.items():
        steps = run["answer"]["steps"]["traced"]["count"]
        perturbed = run["answer"]["steps"].get("perturbed", {}).get("count", 0)
        steps = run["answer"]["structure"]["steps"] or steps + perturbed
        odd += [f"{key} {row['name']} {row['count']}"
                for row in rows(run, "op", "op") if row["count"] % steps]
    return not odd, f"{len(runs)} runs; not so: {odd[:3]}"


@statement("Common", "every step does the same work")
def _stable(runs):
    bad = [key for key, run in runs.items()
           if not run["answer"]["structure"]["stable"]]
    return not bad, f"{len(runs)} runs; not so: {bad}"


@statement("Common", "device totals count work once: of operators as of kernels")
def _totals(runs):
    off = []
    for key, run in runs.items():
        table = run["tables"]["op"]
        caused = table["totals"].get("unattributed_device_ns", 0) + sum(
            row["self_device_ns"] for row in table["rows"]
            if row["kind"] == "op")
        work = run["tables"]["kernel"]["totals"]["self_device_ns"]
        if caused != work:
            off.append(f"{key} {caused} against {work} ns")
    return not off, f"{len(runs)} runs; off: {off[:3]}"


@statement("Common", "artefacts have names and are in no operator's total",
           "mm64_cold")
def _artefacts(cold):
    table = cold["tables"]["op_cold"]
    names = [row["name"] for row in table["rows"] if row["kind"] == "overhead"]
    own = sum(row["self_cpu_ns"] for row in table["rows"]
              if row["kind"] == "op")
    return bool(names) and own == table["totals"]["self_cpu_ns"], (
        f"{', '.join(names)}; operators {us(own)} of "
        f"{us(table['totals']['self_cpu_ns'])}, apart from "
        f"{us(table['totals']['overhead_ns'])} of overhead")


@statement("Common", "cold and warm are separate results", "mm64_cold", "mm64")
def _separate(cold, warm):
    recorded = cold["answer"]["steps"]["cold"]["count"]
    return recorded >= 3 and not cold["job"].get("standby", False), (
        f"{recorded} cold steps on a fresh worker beside "
        f"{warm['answer']['steps']['timed']['count']} timed warm ones")


@statement("Common", "all samples are kept; median and MAD beside the mean")
def _samples(runs):
    short = []
    for key, run in runs.items():
        steps = run["answer"]["steps"]
        kept = len([row for row in rows(run, "step", "step")
                    if row["name"].startswith("traced")])
        if kept != run["job"]["spec"]["traced_steps"] or not all(
                name in steps["timed"]
                for name in ("median_ns", "mad_ns", "mean_ns")):
            short.append(f"{key} {kept}")
    return not short, f"{len(runs)} runs; not so: {short}"


@statement("1 (i)", "64 is overhead-bound, with 5 times more CPU than device "
           "time; 4096 is not", "mm64", "mm4096")
def _overhead(small, large):
    # Of a step: with the calls, which are no part of an operator's own time.
    ratio = host_ns(small) / max(busy_ns(small), 1)
    kinds = [run["answer"]["verdict"]["kind"] for run in (small, large)]
    return (ratio >= 5 and kinds[0] == "overhead-bound" != kinds[1]), (
        f"CPU / device {ratio:.1f}; 64 {kinds[0]}, 4096 {kinds[1]}")


@statement("1 (ii)", "the first cold step is far above the third, loading is "
           "listed; warm steps are alike", "mm64_cold", "mm64")
def _cold(cold, warm):
    first = cold["answer"]["steps"]["cold"]["first_ns"]
    loading = [row["name"] for row in rows(cold, "op_cold", "overhead")
               if "Loading" in row["name"]]
    traced = warm["answer"]["steps"]["traced"]
    spread = traced["mad_ns"] / traced["median_ns"]
    return first[0] > 100 * first[2] and bool(loading) and spread < 0.1, (
        f"first {us(first[0])}, third {us(first[2])}; {', '.join(loading)}; "
        f"warm MAD {spread:.1%} of the median")


@statement("1 (iii)", "CPU a step is about equal at 64 and 4096; the device "
           "works above 150 us a step at 4096", "mm64", "mm4096")
def _equal_cpu(small, large):
    ratio = host_ns(large) / host_ns(small)
    return 0.5 <= ratio <= 2 and busy_ns(large) > 150_000, (
        f"CPU {us(host_ns(small))} and {us(host_ns(large))}; device "
        f"{us(busy_ns(large))}")


@statement("1b", "the copy comes right before the product", "mm4096_compiled")
def _copy_first(run):
    work = [kind for kind, _, _ in order(run)]
    return work == ["copy", "kernel"], f"order {work}"


@statement("1 (iv)", "1b copies exactly N*N*2 bytes and runs the product of 1a",
           "mm4096_compiled", "mm4096")
def _same_product(compiled, eager):
    check = compiled["checks"][f"bytes_per_step(dtod) == {MATRIX_BYTES}B"]
    names = [list(matrix_kernels(run)) for run in (compiled, eager)]
    cores = [[core(name) for name in each] for each in names]
    return check["outcome"] == "passed" and cores[0] == cores[1] != [], (
        f"{check['message']} {names[0]} and {names[1]}")


@statement("1 (v)", "CPU of 1b and 1c against 1a (reported, not asserted: a "
           "package need not cost more)",
           "mm4096", "mm4096_compiled", "mm4096_compiled_1d")
def _cpu_of_compiled(eager, with_copy, with_bias):
    return True, (f"1a {us(host_ns(eager))}, 1b {us(host_ns(with_copy))}, 1c "
                  f"{us(host_ns(with_bias))}")


@statement("1 (vi)", "an outlier step is shown as such, not hidden in a mean")
def _outliers(runs):
    worst, shown = ("", 0), True
    for key, run in runs.items():
        timed = run["answer"]["steps"]["timed"]
        shown = shown and {"max_ns", "p99_ns", "median_ns"} <= set(timed)
        worst = max(worst, (key, timed["max_ns"] / timed["median_ns"]),
                    key=lambda each: each[1])
    timed = runs[worst[0]]["answer"]["steps"]["timed"]
    return shown, (f"furthest: {worst[0]}, longest {us(timed['max_ns'])} of "
                   f"median {us(timed['median_ns'])}, mean "
                   f"{us(timed['mean_ns'])}")


@statement("2 (i)", "views take no device time", "geglu", "linear")
def _free(*runs):
    found = collections.Counter()
    for run in runs:
        for row in rows(run, "op", "op"):
            if row["name"] in [f"aten::{name}" for name in FREE_OPS]:
                found[row["name"]] += row["total_device_ns"]
    return len(found) == len(FREE_OPS) and not any(found.values()), (
        f"device ns {dict(found)}")


@statement("2 (ii)", "2a and 2b run the same kernel by name", "linear",
           "linear_compiled")
def _same_linear(eager, compiled):
    names = [per_step(run, "kernel") for run in (eager, compiled)]
    return names[0] == names[1] and len(names[0]) == 1, (
        f"{list(names[0])} and {list(names[1])}")


@statement("2 (iii)", "the products of 3a, 3b and 3c are identical, two "
           "distinct ones", "geglu", "geglu_compiled", "geglu_fused")
def _same_products(*runs):
    names = [matrix_kernels(run) for run in runs]
    return (names[0] == names[1] == names[2] and
            sorted(names[0].values()) == [1, 2]), f"{dict(names[0])}" + (
                "" if names[0] == names[1] == names[2] else
                f", {dict(names[1])}, {dict(names[2])}")


@statement("2 (iii)", "3a runs gate, up, gelu, mul, down", "geglu")
def _geglu_order(run):
    work = order(run)
    if len(work) != 5:
        return False, f"{len(work)} pieces of work"
    names = [name for _, name, _ in work]
    owners = [path.rsplit(" > ", 1)[-1] for _, _, path in work]
    return (owners == ["aten::mm", "aten::mm", "aten::gelu", "aten::mul",
                       "aten::mm"] and names[0] == names[1] != names[4]), (
                           f"{owners}")


FUSED = {"geglu_compiled": r"^triton_", "geglu_fused": r"^traza_geglu_tanh"}


@statement("2 (iv)", "the fused kernel takes less than gelu and mul; ours "
           "within 10 % of Inductor's", "geglu", "geglu_compiled",
           "geglu_fused")
def _fused_times(eager, compiled, fused):
    apart = kernel_p50(eager, "Gelu") + kernel_p50(eager, "MulFunctor")
    theirs = kernel_p50(compiled, FUSED["geglu_compiled"])
    ours = kernel_p50(fused, FUSED["geglu_fused"])
    return theirs < apart and ours < apart and ours <= 1.1 * theirs, (
        f"gelu + mul {us(apart)}, Inductor {us(theirs)}, ours {us(ours)}")


@statement("3 (i)", "from 4a to 4b exactly the copy goes; kernels stay",
           "attn_naive", "attn_inplace")
def _copy_goes(naive, inplace):
    check = naive["checks"][f"bytes_per_step(dtod) == {SCORES_BYTES}B"]
    kernels = [per_step(run, "kernel") for run in (naive, inplace)]
    copies = [sum(per_step(run, "copy").values()) for run in (naive, inplace)]
    return (check["outcome"] == "passed" and kernels[0] == kernels[1] and
            copies == [1, 0]), (
                f"{check['message']} Copies {copies[0]} and {copies[1]}; "
                f"kernels {'alike' if kernels[0] == kernels[1] else 'differ'}")


@statement("3 (ii)", "math multiplies in fp32 and builds its mask in every step",
           "attn_math")
def _math(run):
    names = per_step(run, "kernel")
    products = [name for name in names if MATRIX.search(name)]
    masks = [name for name in names if re.search("triu|tril", name)]
    return (bool(products) and bool(masks) and
            all(re.search("f32f32|sgemm|ffma", name) for name in products)), (
                f"{products}; mask by {masks[:1]}")


@statement("3 (iii)", "the kernel's name tells the backend", "attn_flash",
           "attn_efficient", "attn_cudnn")
def _backends(*runs):
    names = [" ".join(per_step(run, "kernel")) for run in runs]
    found = [re.search(part, name, re.IGNORECASE) for part, name in zip(
        ("flash_fwd|pytorch_flash", "fmha_cutlass", "cudnn"), names)]
    return all(found), f"{[name[:60] for name in names]}"


@statement("3 (iv)", "device time: math > naive > in-place > each fused one",
           "attn_math", "attn_naive", "attn_inplace", "attn_flash",
           "attn_efficient", "attn_cudnn")
def _ranking(*runs):
    times = [busy_ns(run) for run in runs]
    return (times[0] > times[1] > times[2] > max(times[3:])), (
        "math {}, naive {}, in-place {}, flash {}, efficient {}, cuDNN "
        "{}".format(*map(us, times)))


# Of 384 threads a block, one block a multiprocessor: 12 of 64 warps. Clusters of
# more than two blocks leave multiprocessors out where a group of them holds no
# further cluster: less than that, by a tenth on an H200.
NVJET_OCCUPANCY = 0.1875


def _cluster(name):
    """Blocks of a cluster, "1x4" in nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT."""
    rows_, columns = name.split("_")[5].split("x")
    return int(rows_) * int(columns)


@statement("3 (v)", "occupancy is never 0; nvjet of 384 threads has 18.75 %, "
           "less where its clusters leave multiprocessors out")
def _occupancy(runs):
    empty, nvjet, bad = [], set(), []
    for key, run in runs.items():
        for row in rows(run, "kernel", "kernel"):
            seen = row.get("occupancy")
            if not seen:
                empty.append(f"{key} {row['name'][:40]}")
            elif (row["name"].startswith("nvjet") and
                  row.get("block") == "384,1,1"):
                nvjet.add(seen)
                large = _cluster(row["name"]) > 2
                if not (0.8 * NVJET_OCCUPANCY < seen < NVJET_OCCUPANCY if large
                        else seen == NVJET_OCCUPANCY):
                    bad.append(f"{key} {row['name']} {seen}")
    return not empty and not bad and bool(nvjet), (
        f"nvjet {sorted(nvjet)}; not so: {bad[:2]}; none for {empty[:3]}")


@statement("3 (v)", "flash has 12.5 %", "attn_flash")
def _flash_occupancy(run):
    seen = {row.get("occupancy") for row in rows(run, "kernel", "kernel")}
    return seen == {0.125}, f"{seen}"


@statement("Output", "every variant computes what eager or naive does")
def _outputs(runs):
    said = {key: run["same_output"] for key, run in runs.items()
            if "same_output" in run}
    bad = [f"{key}: {check['message']}" for key, check in said.items()
           if check["outcome"] != "passed"]
    return bool(said) and not bad, f"{sorted(said)}; not so: {bad[:2]}"


# ---- Judging

def judge_statement(name, text, keys, judge, runs, on_gpu):
    present = {key: run for key, run in runs.items() if "missing" not in run}
    if not on_gpu:
        return Line(name, "SKIP", text, "no device work without a GPU")
    absent = [f"{key}: {runs.get(key, {}).get('missing', 'it was not run')}"
              for key in keys if key not in present]
    if absent:
        return Line(name, "SKIP", text, "; ".join(absent))
    if not present:
        return Line(name, "SKIP", text, "nothing was run")
    try:
        holds, evidence = (judge(*[present[key] for key in keys]) if keys
                           else judge(present))
    # An answer that lacks what a statement is about does not show it.
    except (LookupError, TypeError, ZeroDivisionError) as error:
        holds, evidence = False, f"the answer lacks {error}"
    return Line(name, "PASS" if holds else "FAIL", text, evidence)


# On a CPU, too.
WITHOUT_A_GPU = {_multiples, _outliers, _samples, _separate, _stable}


def judge_all(runs, on_gpu):
    """Every statement, as lines in their order."""
    lines = []
    for row in ROWS:
        lines += judge_row(row, runs, on_gpu)
    for name, text, keys, judge in STATEMENTS:
        lines.append(judge_statement(name, text, keys, judge, runs,
                                     on_gpu or judge in WITHOUT_A_GPU))
    return lines
