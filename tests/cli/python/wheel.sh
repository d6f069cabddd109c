#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# wheel.sh - pip wheel python/ (python3): a wheel that works in a fresh environment, from another folder, without this one.
# shellcheck source=tests/lib/tap.sh
. "$(dirname "$0")/../../lib/tap.sh"
# shellcheck source=tests/lib/python.sh
. tests/lib/python.sh

for need in pip setuptools venv ensurepip; do
	has $need || { echo "this Python has no $need"; exit 77; }
done
has wheel || has setuptools.command.bdist_wheel || { echo "this Python has neither the package wheel nor setuptools 70"; exit 77; }

# Without an index, and with nothing that is not here.
wheel()
{
	code=0
	"$python" -m pip --isolated wheel --no-index --no-build-isolation --no-deps -w "$tmp/wheels" python/ \
		>"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}

mkdir "$tmp/empty"
BUILD=$tmp/empty wheel
[ "$code" -ne 0 ]
tap "without a build there is no wheel"
cat "$tmp/err" >>"$tmp/out"
says "is not built; run make" "and it says what to do"
tools/check/files.sh 'python/*' >"$tmp/before"
BUILD=$build wheel
exits 0 "a wheel is made"
tools/check/files.sh 'python/*' | cmp -s - "$tmp/before"
tap "nothing is left beside the sources"
whl=$(echo "$tmp"/wheels/passmith-*-py3-none-linux_*.whl)
[ -f "$whl" ]
tap "it is one for this platform and every Python 3"

# All that follows knows nothing of this folder.
"$python" -m venv "$tmp/fresh" >"$tmp/out" 2>"$tmp/err"
tap "a fresh environment"
alone()
{
	code=0
	(cd "$tmp/elsewhere" && env -i HOME="$tmp/elsewhere" PATH=/usr/bin:/bin TMPDIR="$tmp" PASSMITH_CACHE="$PASSMITH_CACHE" \
		"$tmp/fresh/bin/python3" "$@") >"$tmp/out" 2>"$tmp/err" </dev/null || code=$?
}
mkdir "$tmp/elsewhere"
alone -m pip --isolated install --no-index "$whl"
exits 0 "it is installed"
cat >"$tmp/elsewhere/m.gpt" <<'GRAPH'
m (float[n] x) => (float[n] y)
{
   s = Sigmoid (x)
   y = Mul (x, s)
}
GRAPH
cat >"$tmp/elsewhere/use.py" <<'PY'
import array, importlib.metadata, os, passmith
said = passmith.compile("m.gpt", "m.pmz", shapes=[{"n": 3}])
assert said["shapes"][0]["fused"] == 1, said
with passmith.load("m.pmz") as m:
    print([round(v, 3) for v in m(array.array("f", [0, 1, 2])).tolist()])
print(passmith.extract("m.gpt", db="work.db")["models_done"], "model")
print([e.value for e in importlib.metadata.distribution("passmith").entry_points if e.group == "torch_dynamo_backends"])
print("opened", [l.split()[-1] for l in open("/proc/self/maps") if "libpassmith_rt" in l][0])
PY
alone use.py
exits 0 "compile, load and extract work from it"
says "[0.0, 0.731, 1.762]" "the result is right"
says "1 model" "the program is its own"
says "opened $tmp/fresh" "and so is the library"
says "passmith.torch:backend" "torch.compile finds the backend by its entry point"
# A library that cannot be loaded is as good as none: then those of the wheel serve.
mkdir "$tmp/broken"
: >"$tmp/broken/libprotobuf-c.so.1"
cat >"$tmp/elsewhere/lacking.py" <<PY
import os, passmith
os.environ["LD_LIBRARY_PATH"] = "$tmp/broken"
print(passmith.compile("m.gpt", "n.pmz", shapes=[{"n": 4}])["kernels"], "kernel")
PY
alone lacking.py
exits 0 "it works where libraries of the distribution are missing"
says "1 kernel" "as it does with them"
alone -m pip --isolated uninstall -y passmith
exits 0 "it is removed"
[ ! -e "$(echo "$tmp"/fresh/lib/python3*/site-packages/passmith)" ]
tap "as a whole"
tap_done
