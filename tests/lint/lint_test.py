#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants faults in a scratch tree and expects each check to find them."""

import contextlib
import io
import os
import tempfile
import unittest

import check_headers
import check_layers

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class ScratchTree(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = scratch.name

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as out:
            out.write(text)

    def run_check(self, module):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = module.main(["check", self.root])
        return code, out.getvalue()


class CheckLayers(ScratchTree):
    def expect_refused(self, path, include, because):
        self.write(path, f"{SPDX}\n#include {include}\n")
        code, out = self.run_check(check_layers)
        self.assertEqual(code, 1, out)
        self.assertIn(f"{path}:3: ", out)
        self.assertIn(because, out)

    def expect_allowed(self, path, include):
        self.write(path, f"{SPDX}\n#include {include}\n")
        code, out = self.run_check(check_layers)
        self.assertEqual(code, 0, out)

    def test_upward_include_is_refused(self):
        self.expect_refused("base/a.cc", '"server/jobs/job_manager.h"',
                            "base may not include server/jobs")

    def test_sideways_include_is_refused(self):
        self.expect_refused("server/rpc/a.cc", '"server/http/b.h"',
                            "may not include server/http")

    def test_worker_never_sees_generated_proto(self):
        self.expect_refused("worker/a.cc", '"traza/v1/job.pb.h"',
                            "generated proto")

    def test_only_the_header_of_a_trace_sees_spec(self):
        self.expect_refused("trace/trace.cc", '"spec/job_spec.h"',
                            "may not include spec")
        self.expect_allowed("trace/trace.cc", '"trace/header.h"')
        self.expect_allowed("trace/header.cc", '"spec/job_spec.h"')
        self.expect_allowed("trace/analysis/table.h", '"spec/phase.h"')

    def test_third_party_outside_its_place_is_refused(self):
        for path, include in [
                ("server/jobs/a.cc", '"grpcpp/grpcpp.h"'),
                ("server/jobs/b.cc", '"sqlite3.h"'),
                ("server/rpc/c.cc", '"prometheus/counter.h"'),
                ("trace/analysis/d.cc", '"arrow/api.h"'),
                ("worker/session.cc", '"ATen/ATen.h"'),
                ("workloads/workload.h", '"c10/core/Device.h"'),
                ("base/e.cc", '"nlohmann/json.hpp"')]:
            with self.subTest(include=include):
                self.expect_refused(path, include, "only")

    def test_relative_and_unknown_includes_are_refused(self):
        self.expect_refused("base/a.cc", '"../base/b.h"', "relative")
        self.expect_refused("base/c.cc", '"boost/any.hpp"', "unknown")

    def test_third_party_in_angle_brackets_is_refused(self):
        self.expect_refused("base/a.cc", "<absl/status/status.h>", "quoted")

    def test_downward_includes_are_allowed(self):
        self.expect_allowed("server/jobs/a.cc", '"server/store/job_store.h"')
        self.expect_allowed("worker/b.cc", '"workloads/registry.h"')
        self.expect_allowed("workloads/c.cc", '"ATen/ops/add.h"')
        self.expect_allowed("client/cli/d.cc", '"trace/render/table.h"')
        self.expect_allowed("tests/server/jobs/e.cc", '"tests/support/f.h"')

    def test_empty_tree_is_an_error(self):
        code, _ = self.run_check(check_layers)
        self.assertEqual(code, 1)


class CheckHeaders(ScratchTree):
    GOOD = f"{SPDX}\n#ifndef BASE_A_H_\n#define BASE_A_H_\n#endif  // BASE_A_H_\n"

    def expect_fault(self, path, text, because):
        self.write(path, text)
        code, out = self.run_check(check_headers)
        self.assertEqual(code, 1, out)
        self.assertIn(because, out)

    def test_good_header_passes(self):
        self.write("base/a.h", self.GOOD)
        code, out = self.run_check(check_headers)
        self.assertEqual(code, 0, out)

    def test_missing_license_is_found(self):
        self.expect_fault("base/a.cc", "int x;\n", "base/a.cc:1: ")

    def test_license_may_follow_the_interpreter_line(self):
        self.write("scripts/a.py",
                   "#!/usr/bin/env python3\n# " + SPDX[3:])
        code, out = self.run_check(check_headers)
        self.assertEqual(code, 0, out)

    def test_guard_of_another_path_is_found(self):
        self.expect_fault("base/b.h", self.GOOD, "guard has to be BASE_B_H_")

    def test_pragma_once_is_found(self):
        self.expect_fault("base/a.h", SPDX + "#pragma once\n", "no #pragma")


if __name__ == "__main__":
    unittest.main()
