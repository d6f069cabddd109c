/* SPDX-License-Identifier: Apache-2.0 */
/* conform_tap.h - the ONNX project's node tests on one device, one TAP line per operator. */
#ifndef TESTS_LIB_CONFORM_TAP_H
#define TESTS_LIB_CONFORM_TAP_H

/* The main function of a test program: PROGRAM [--json] [FOLDER]. FOLDER overrides the installed cases;
 * --json prints all verdicts instead of TAP. Returns the exit status: 77 when the cases or the device are not
 * here. */
int pm_conform_tap(const char *device, int argc, char **argv);

#endif
