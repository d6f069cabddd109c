/* far.cu - elements of a row that wait in dynamic shared memory, each in a place of its thread's own: no barrier is needed.
 */

template<class P> __device__ __forceinline__ P *far_row()
{
	extern __shared__ __align__(16) unsigned char far_bytes[];
	return reinterpret_cast<P *>(far_bytes);
}
/* Starts to copy 16 bytes, without registers; brought() waits for all. */
template<int N, int A, class U> __device__ __forceinline__ void bring(pm_vec<U, N> *to, const U *from)
{
#ifndef PASSMITH_EMU
	if (A == 1) {
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
			     :
			     : "r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
			     : "memory");
		return;
	}
#endif
	*to = fetch<N, A>(from);
}
__device__ __forceinline__ void brought()
{
#ifndef PASSMITH_EMU
	asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}
/* Of turn k: the first NEAR are in registers, the others G vectors apart. */
template<int NEAR, int G, class P>
__device__ __forceinline__ P at_hand(const P (&e)[NEAR], const P *far, int k)
{
	return k < NEAR ? e[k < NEAR ? k : 0] : far[(k - NEAR) * G];
}
