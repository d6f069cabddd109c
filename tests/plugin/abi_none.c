/* SPDX-License-Identifier: Apache-2.0 */
/* abi_none.c - a shared object that is no plugin. Ends as REJECT_ABI. */
extern const int nothing_here;
const int nothing_here = 1;
