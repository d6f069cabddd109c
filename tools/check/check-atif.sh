#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-atif.sh - validates what `passmith trajectory export --format atif` writes with the models that the Harbor
# framework publishes for its Agent Trajectory Interchange Format (PyPI: harbor). They are installed into a folder
# below $BUILD once, without what else that package needs: its models need pydantic alone.
#
# The sample is tests/golden/trajectory/sessions.jsonl, and what is given: check-atif.sh [FILE.db...]
set -eu
cd "$(dirname "$0")/../.."

harbor=0.25.0 # knows ATIF-v1.0 to ATIF-v1.8; asks for a newer Python than these models need
build=${BUILD:-build}
venv=$build/check-atif
python=$venv/bin/python3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! "$python" -c 'import harbor.models.trajectories' 2>/dev/null; then
	python3 -m venv "$venv"
	"$python" -m pip install -q 'pydantic>=2.12'
	"$python" -m pip install -q --no-deps --ignore-requires-python "harbor==$harbor"
fi

"$build/passmith" db import tests/golden/trajectory/sessions.jsonl --db "$tmp/sample.db" >/dev/null
for db in "$tmp/sample.db" "$@"; do
	for cut in '' --first-success; do
		# shellcheck disable=SC2086 # no word at all
		"$build/passmith" trajectory export --db "$db" --format atif $cut >>"$tmp/atif.jsonl"
	done
done
"$python" - "$tmp/atif.jsonl" <<'PYTHON'
import json
import sys

from harbor.utils.trajectory_validator import TrajectoryValidator

n = wrong = steps = 0
for number, line in enumerate(open(sys.argv[1], encoding="utf-8"), 1):
    document = json.loads(line)
    check = TrajectoryValidator()
    n += 1
    if document["schema_version"] != "ATIF-v1.7" or not check.validate(document):
        wrong += 1
        print(f"line {number}: {document['schema_version']}: {'; '.join(check.get_errors())}")
    steps += len(document["steps"])
print(f"check-atif: {n} documents of {steps} steps, {wrong} wrong")
sys.exit(wrong > 0 or n == 0)
PYTHON
