/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.c - a driver's library that says its version and nothing else: with fake_nvml.c, a machine that
 * has a driver and no GPU. Compiled like a pass, so without the C library. */
__attribute__((visibility("default"))) int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
	*version = 13000;
	return 0;
}
