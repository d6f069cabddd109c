/* SPDX-License-Identifier: Apache-2.0 */
/* attr_text.c - the value of an attribute for messages. */
#include "ir/text/text.h"

static void add_list(const PmAttr *a, PmStr *out)
{
	pm_str_addc(out, '[');
	for (size_t i = 0; i < a->n; i++) {
		pm_str_add(out, i ? ", " : "");
		if (a->kind == PM_ATTR_INTS)
			pm_str_addi(out, a->ints[i]);
		else if (a->kind == PM_ATTR_FLOATS)
			pm_str_addf(out, "%.9g", a->floats[i]);
		else
			pm_str_addf(out, "\"%s\"", a->strings[i]);
	}
	pm_str_addc(out, ']');
}

void pm_attr_describe(const PmAttr *a, PmStr *out)
{
	switch (a->kind) {
	case PM_ATTR_INT:
		pm_str_addi(out, a->i);
		break;
	case PM_ATTR_FLOAT:
		pm_str_addf(out, "%.9g", a->f);
		break;
	case PM_ATTR_STRING:
		pm_str_add(out, a->s);
		break;
	case PM_ATTR_INTS:
	case PM_ATTR_FLOATS:
	case PM_ATTR_STRINGS:
		add_list(a, out);
		break;
	case PM_ATTR_TENSOR:
		pm_type_describe(&a->type, out);
		break;
	default:
		pm_str_add(out, "(a graph)");
	}
}
