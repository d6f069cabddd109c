/* one_hot.cu - values[1] where the entry's number is the index, values[0] elsewhere; one thread per result. */

KERNEL
{
	I t = TID, line;
	long long at;

	if (t >= total)
		return;
	line = t / inner / depth * inner + t % inner;
	at = pm_int(pm_ld(idx[line]), -0x7fffffffffffffffll - 1, 0x7fffffffffffffffll);
	at = at < 0 ? at + depth : at;
	y[t] = values[at == t / inner % depth ? vs : 0];
}
/* SPDX-License-Identifier: Apache-2.0 */
