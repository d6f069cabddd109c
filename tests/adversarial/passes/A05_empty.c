/* SPDX-License-Identifier: Apache-2.0 */
/* A05_empty.c - the empty pass: a plugin without a rule. */
#include "passmith/pass.h"

const PmPlugin *passmith_plugin_v1(const PmHost *host)
{
	static const PmPlugin empty = { .struct_size = sizeof(PmPlugin),
					.abi_major = PM_ABI_MAJOR,
					.abi_minor = PM_ABI_MINOR,
					.name = "empty",
					.version = "1" };

	(void)host;
	return &empty;
}
