/* SPDX-License-Identifier: Apache-2.0 */
/* package.h - packages for tests: a model compiled, and what the device it is for makes of seeded inputs when
 * this program runs it. */
#ifndef TESTS_LIB_DEVICE_PACKAGE_H
#define TESTS_LIB_DEVICE_PACKAGE_H

#include "app/compile/compile.h"
#include "rt/passmith_rt.h"
#include "runtime/device/tensor.h"

enum { TEST_SHAPES = 8, TEST_VALUES = 64 };

/* Of one shape of the package. */
typedef struct TestRun {
	size_t n_in, n_out;
	PmTensor in[TEST_VALUES], want[TEST_VALUES];
} TestRun;

typedef struct TestPackage {
	char path[512];
	char name[128]; /* of the model, for messages */
	PmCompiled compiled;
	TestRun run[TEST_SHAPES];
	size_t n_runs;
} TestPackage;

/* A model in text form as a file in $TMPDIR; its path is static storage. */
const char *test_model_file(const char *name, const char *text);
/* Compiles ask->model into $TMPDIR and runs each shape, rewritten by the same passes, on `device` with inputs
 * of the given seed. Fails the test when that fails. */
void test_package_make(const PmCompileAsk *ask, const char *device, uint64_t seed, TestPackage *out);
void test_package_release(TestPackage *p);

/* A tensor of ours as one of the interface's. `place` is where its data lie. */
PmRtTensor test_rt_tensor(const PmTensor *t);
/* Binds the inputs of a run, and outputs that it makes (zeroed, released by the caller). */
void test_bind(PmRtSession *s, const TestRun *r, PmTensor *out);
/* Fails the test unless the outputs have the bits that are wanted. */
void test_same(const TestRun *r, const PmTensor *out, const char *what);

#endif
