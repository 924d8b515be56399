# SPDX-License-Identifier: Apache-2.0
"""What checks on a real GPU have in common: a line each, and a result."""


class Tally:
    """Prints each check and remembers what failed."""

    def __init__(self):
        self.failed = []
        self.count = 0

    def expect(self, name, holds, seen=""):
        self.count += 1
        print(f"{'ok    ' if holds else 'FAILED'}  {name}"
              f"{f': {seen}' if seen != '' else ''}", flush=True)
        if not holds:
            self.failed.append(name)

    def result(self):
        """Prints the last line; the exit code."""
        passed = self.count - len(self.failed)
        print(f"Result: {passed} of {self.count} hold")
        return 1 if self.failed else 0
