/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_print.h - printf of a kernel, which passmith eval --debug-print alone puts in front of one. Arguments
 * go to the program with their kinds: what a format asks for is checked there. */
#ifndef RUNTIME_EMU_CUDA_PRINT_H
#define RUNTIME_EMU_CUDA_PRINT_H
#ifdef __cplusplus

#include "cuda_base.h"

#define PM_EMU_PRINTS(U, k, as)                                                                              \
	PM_EMU_INLINE PmEmuPrintArg pm_emu_print_arg(U v)                                                    \
	{                                                                                                    \
		return { (unsigned long long)(as)v, k };                                                     \
	}
PM_EMU_PRINTS(int, PM_EMU_PRINT_INT, long long)
PM_EMU_PRINTS(unsigned, PM_EMU_PRINT_INT, unsigned long long)
PM_EMU_PRINTS(long, PM_EMU_PRINT_INT, long long)
PM_EMU_PRINTS(unsigned long, PM_EMU_PRINT_INT, unsigned long long)
PM_EMU_PRINTS(long long, PM_EMU_PRINT_INT, long long)
PM_EMU_PRINTS(unsigned long long, PM_EMU_PRINT_INT, unsigned long long)
PM_EMU_PRINTS(const volatile void *, PM_EMU_PRINT_POINTER, unsigned long long)
PM_EMU_INLINE PmEmuPrintArg pm_emu_print_arg(double v)
{
	return { pm_emu_bits<unsigned long long>(v), PM_EMU_PRINT_DOUBLE };
}
PM_EMU_INLINE PmEmuPrintArg pm_emu_print_arg(float v)
{
	return pm_emu_print_arg((double)v);
}

template <class... A> PM_EMU_INLINE int printf(const char *format, A... a)
{
	/* One element too many, so that there is an array where nothing is given. */
	const PmEmuPrintArg v[sizeof...(A) + 1] = { pm_emu_print_arg(a)..., { 0, 0 } };

	return pm_emu_ctx.calls->print(format, v, (int)sizeof...(A));
}

#endif
#endif
