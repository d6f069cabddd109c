/* SPDX-License-Identifier: Apache-2.0 */
/* abi_v2.c - exports only the entry of the next major version. Ends as REJECT_ABI. */
#include "passmith/pass.h"

PM_EXPORT const PmPlugin *passmith_plugin_v2(const PmHost *host);

const PmPlugin *passmith_plugin_v2(const PmHost *host)
{
	(void)host;
	return NULL;
}
