/* SPDX-License-Identifier: Apache-2.0 */
/* test_onnx_nodes.c - the ONNX project's node tests on the reference device, one TAP line per operator.
 *
 * test_onnx_nodes [--json] [FOLDER]: see tests/lib/graphs/conform_tap.h.
 */
#include "tests/lib/graphs/conform_tap.h"

int main(int argc, char **argv)
{
	return pm_conform_tap("ref", argc, argv);
}
