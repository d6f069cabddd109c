/* SPDX-License-Identifier: Apache-2.0 */
/* compile_words.c - texts and types as the tables of a package name them. */
#include "app/compile/compile_priv.h"

#include "base/core/vec.h"
#include "ir/core/onnx_dtype.h"

#include <string.h>

uint32_t pm__text(PmPackage *p, const char *s)
{
	uint32_t id = pm_intern(p->texts, s, strlen(s));

	while (p->place.n <= id) {
		const char *text = pm_intern_text(p->texts, (uint32_t)p->place.n);
		uint32_t at = (uint32_t)p->text.len;

		pm_str_addn(&p->text, text, strlen(text) + 1);
		PM_VEC_PUSH(&p->place, at);
	}
	return p->place.v[id];
}

uint32_t pm__onnx_type(int dtype)
{
	return pm_dtype_is_narrow(dtype) ? 0 : (uint32_t)pm_dtype_to_onnx(dtype);
}
