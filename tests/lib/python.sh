#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# python.sh - which Python runs the tests of the package in python/; sourced after tap.sh.
#
# $python is $TEST_PYTHON (make check-python gives one with PyTorch), else the python3 of $PATH, or that of the
# distribution where only that one has NumPy. Empty when there is none.

python=""
for p in "${TEST_PYTHON:-python3}" ${TEST_PYTHON:+""} /usr/bin/python3; do
	[ -n "$p" ] || break
	if "$p" -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
		[ -n "$python" ] || python=$p
		if "$p" -c 'import numpy' 2>/dev/null; then
			python=$p
			break
		fi
	fi
done
if [ -z "$python" ]; then
	echo "there is no Python 3.9 or newer"
	exit 77
fi

# What is compiled of Python goes with the test.
PYTHONPATH=$PWD/python PYTHONPYCACHEPREFIX=$tmp/pycache PASSMITH_BUILD=$build
export PYTHONPATH PYTHONPYCACHEPREFIX PASSMITH_BUILD

# has MODULE: whether this Python has it.
has()
{
	"$python" -c "import $1" 2>/dev/null
}

# py SCRIPT ARG...: runs a script of tests/python, which speaks TAP itself.
py()
{
	"$python" "tests/python/$@" 2>"$tmp/err"
	tap "$* ended well"
}
