/* SPDX-License-Identifier: Apache-2.0 */
/* runner_products.c - who computes large products of the reference during an evaluation. */
#include "bench/eval/runner_priv.h"
#include "runtime/device/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For tests: "DEVICE,OPERATIONS" or "DEVICE,OPERATIONS,FAULT". NULL when the variable says nothing of the
 * kind. */
static PmProducts *as_tests_say(const char *text)
{
	char device[16], fault[16] = "";
	double least;

	if (!text || sscanf(text, "%15[a-z],%lf,%15s", device, &least, fault) < 2 || !(least > 0))
		return NULL;
	return pm_products_new(device, least,
			       !strcmp(fault, "wrong")  ? PM_PRODUCT_WRONG
			       : !strcmp(fault, "dies") ? PM_PRODUCT_DIES
							: PM_PRODUCT_RIGHT);
}

void pm__products_begin(Eval *e)
{
	/* One that follows a clock is small, and opens no device before that. */
	if (!e->o->reference_on_gpu || pm__follows(e))
		return;
	e->products = as_tests_say(getenv("PASSMITH_TEST_PRODUCTS"));
	if (!e->products && pm_device_kind(e->o->device) == PM_DEVICE_CUDA)
		e->products = pm_products_new(e->o->device, 0, PM_PRODUCT_RIGHT);
	if (e->products)
		pm_ref_products(pm_products_compute, e->products);
}

void pm__products_end(Eval *e)
{
	pm_ref_products(NULL, NULL);
	e->rec->products = pm_products_done(e->products);
	pm_products_free(e->products);
	e->products = NULL;
}
