/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - the table of tools as a page for people. */
#ifndef MCP_PAGE_H
#define MCP_PAGE_H

#include "base/core/json.h"

/* Appends docs/reference/tools.md, Markdown, made from a table as pm_tools_table gives it. */
void pm_mcp_tools_page(const cJSON *table, PmStr *out);

#endif
