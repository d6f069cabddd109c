/* SPDX-License-Identifier: Apache-2.0 */
/* abi_newer.c - built for a later minor version of the interface. Ends as REJECT_ABI. */
#include "passmith/pass.h"

const PmPlugin *passmith_plugin_v1(const PmHost *host)
{
	static const PmPlugin plugin = {
		.struct_size = sizeof plugin, .abi_major = 1, .abi_minor = 99, .name = "newer"
	};

	(void)host;
	return &plugin;
}
