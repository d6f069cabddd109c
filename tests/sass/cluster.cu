/* cluster.cu - barriers in shared memory and clusters of blocks, from sm_90 on (see scalar.cu). */

#define K(name) extern "C" __global__ void name

K(arrivals)(const float *p, float *q, int n)
{
	__shared__ __align__(8) unsigned long long bar;
	unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
	unsigned long long state;
	unsigned ok;

	if (!threadIdx.x)
		asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "r"(n));
	__syncthreads();
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
	asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at));
	asm volatile("{ .reg .pred q; mbarrier.test_wait.shared.b64 q, [%1], %2; selp.u32 %0, 1, 0, q; }"
		     : "=r"(ok)
		     : "r"(at), "l"(state));
	asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(state) : "r"(at));
	asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(at));
	asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(ok) : "l"(state));
	q[0] = (float)ok + p[n];
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at));
}

K(of_sm_90)(const float *p, float *q, int n)
{
#if __CUDA_ARCH__ >= 900
	__shared__ __align__(16) float s[256];
	__shared__ __align__(8) unsigned long long bar;
	unsigned at = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(s), other, ok;

	s[threadIdx.x] = p[n];
	if (!threadIdx.x) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at));
		asm volatile("fence.mbarrier_init.release.cluster;");
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(at));
		asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::
				     "r"(to), "l"(p), "r"(at));
	}
	asm volatile("barrier.cluster.arrive.aligned;");
	asm volatile("barrier.cluster.wait.aligned;");
	asm volatile("barrier.cluster.arrive.relaxed;");
	asm volatile("barrier.cluster.wait;");
	asm volatile("{ .reg .pred q; L: mbarrier.try_wait.parity.shared::cta.b64 q, [%1], 0; @!q bra L; selp.u32 %0, 1, 0, q; }"
		     : "=r"(ok)
		     : "r"(at));
	asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(to), "r"(n));
	asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(other), "f"(p[1]));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(ok) : "r"(other));
	asm volatile("fence.proxy.async;");
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 512;" ::"l"(q), "r"(to));
	asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 512;" ::"l"(q), "r"(to));
	asm volatile("cp.async.bulk.commit_group;");
	asm volatile("cp.async.bulk.wait_group 0;");
	asm volatile("{ .reg .pred q; elect.sync _|q, 0xffffffff; selp.u32 %0, 1, 0, q; }" : "=r"(ok));
	q[2] = s[threadIdx.x] + (float)ok;
#else
	q[0] = p[n];
#endif
}
/* SPDX-License-Identifier: Apache-2.0 */
