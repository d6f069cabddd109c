/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_entry.h - calls a kernel with an array of arguments and tells what its parameters are. */
#ifndef RUNTIME_EMU_CUDA_ENTRY_H
#define RUNTIME_EMU_CUDA_ENTRY_H
#ifdef __cplusplus

#include "cuda_base.h"

template <class U> struct pm_emu_kind {
	static const unsigned char value = PM_EMU_OTHER;
};
template <class U> struct pm_emu_kind<const U> : pm_emu_kind<U> {
};
template <class U> struct pm_emu_kind<U *> {
	static const unsigned char value = PM_EMU_POINTER;
};
#define PM_EMU_KIND(U, k)                                                                                    \
	template <> struct pm_emu_kind<U> {                                                                  \
		static const unsigned char value = k;                                                        \
	};
PM_EMU_KIND(long, PM_EMU_INT64)
PM_EMU_KIND(unsigned long, PM_EMU_INT64)
PM_EMU_KIND(long long, PM_EMU_INT64)
PM_EMU_KIND(unsigned long long, PM_EMU_INT64)
PM_EMU_KIND(int, PM_EMU_INT32)
PM_EMU_KIND(unsigned, PM_EMU_INT32)
PM_EMU_KIND(float, PM_EMU_FLOAT)
PM_EMU_KIND(double, PM_EMU_DOUBLE)

template <int... I> struct pm_emu_seq {
};
template <int N, int... I> struct pm_emu_make_seq : pm_emu_make_seq<N - 1, N - 1, I...> {
};
template <int... I> struct pm_emu_make_seq<0, I...> {
	typedef pm_emu_seq<I...> type;
};
template <class U> struct pm_emu_plain {
	typedef U type;
};
template <class U> struct pm_emu_plain<const U> {
	typedef U type;
};

template <auto F> struct pm_emu_entry;
template <class... A, void (*F)(A...)> struct pm_emu_entry<F> {
	/* One element too many, so that a kernel without parameters has an array too. */
	static constexpr unsigned char kind[sizeof...(A) + 1] = { pm_emu_kind<A>::value..., 0 };
	static const int n_params = sizeof...(A);

	template <int... I> PM_EMU_INLINE void unpack(void *const *args, pm_emu_seq<I...>)
	{
		(void)args;
		F(*(typename pm_emu_plain<A>::type *)args[I]...);
	}
	static void call(void *const *args)
	{
		unpack(args, typename pm_emu_make_seq<sizeof...(A)>::type());
	}
};

#define PM_EMU_ENTRY(name, max_threads)                                                                      \
	{                                                                                                    \
#name, pm_emu_entry < &name> ::call, pm_emu_entry < &name> ::kind,                           \
			pm_emu_entry < &name> ::n_params, max_threads                                        \
	}

/* The last lines of every compiled kernel: the table of entries, and the one symbol that is looked up. */
#define PM_EMU_MODULE_BEGIN static const PmEmuEntry pm_emu_entries[] = {
#define PM_EMU_MODULE_END                                                                                    \
	{                                                                                                    \
		0, 0, 0, 0, 0                                                                                \
	}                                                                                                    \
	}                                                                                                    \
	;                                                                                                    \
	extern "C" PM_EMU_EXPORT const PmEmuModule *pm_emu_module()                                          \
	{                                                                                                    \
		static const PmEmuModule module = { PM_EMU_ABI, &pm_emu_ctx, pm_emu_shared_begin,            \
						    pm_emu_shared_end, pm_emu_entries };                     \
		return &module;                                                                              \
	}

#endif
#endif
