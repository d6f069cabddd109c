# SPDX-License-Identifier: Apache-2.0
"""page_file.py - how a page of docs/results is written from a file of numbers, or compared with it (--check)."""
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "results"


def gmean(values):
    """The geometric mean; NaN of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def arguments():
    """What is on the command line beside --check."""
    return [a for a in sys.argv[1:] if a != "--check"]


def put(text, target, source):
    """Writes the page, or with --check says whether it is what the source gives. Returns the exit code."""
    if "--check" not in sys.argv[1:]:
        target.write_text(text)
    elif not target.exists() or target.read_text() != text:
        print(f"{target} is not what {source.name} gives; run tools/gen/{pathlib.Path(sys.argv[0]).name}.", file=sys.stderr)
        return 1
    return 0


def main(page, source, target, maker, objection=lambda data: None):
    """[--check] [JSON MD]: the page of docs/results/`source`, or of the file that is given. `maker` makes such files.

    Without numbers there is no page: then a page that is there, or a file that was named, is an error. `objection` gives a reason why no page is
    made of some data, or None. Returns the exit code."""
    args = arguments()
    source, target = map(pathlib.Path, args) if len(args) == 2 else (ROOT / source, ROOT / target)
    if not source.exists():
        if len(args) == 2 or target.exists():
            print(f"There is no {source}; {maker} makes it.", file=sys.stderr)
            return 1
        return 0
    data = json.loads(source.read_text())
    why = objection(data)
    if why:
        print(f"{source} is {why}", file=sys.stderr)
        return 1
    return put(page(data), target, source)
