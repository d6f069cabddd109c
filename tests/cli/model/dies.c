/* SPDX-License-Identifier: Apache-2.0 */
/* dies.c - preloaded, kills the process that asks calloc for DIES_AT bytes: a death at one place of a
 * program.
 *
 * A test builds it with a number of bytes that nothing else asks for, as the size of a table of its own
 * graph.
 */
#include <signal.h>
#include <stddef.h>

void *__libc_calloc(size_t n, size_t size);
void *calloc(size_t n, size_t size);

void *calloc(size_t n, size_t size)
{
	if (n * size == DIES_AT)
		raise(SIGKILL);
	return __libc_calloc(n, size);
}
