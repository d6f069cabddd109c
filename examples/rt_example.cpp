// SPDX-License-Identifier: Apache-2.0
// rt_example.cpp - runs a package of `passmith compile` by four threads, each with a session, on inputs of zeros.
//
// c++ -std=c++17 -pthread rt_example.cpp $(pkg-config --cflags --libs passmith_rt) -o rt && ./rt model.pmz
#include <passmith_rt.h>

#include <cstdio>
#include <future>
#include <memory>
#include <stdexcept>
#include <vector>

static void must(int code, const PmRtError &why)
{
	if (code) throw std::runtime_error(why.text);
}

struct Tensor : PmRtTensor {
	std::vector<double> room; // 8 bytes are enough for an element of any type
	explicit Tensor(const PmRtValue &v) : PmRtTensor{}
	{
		size_t n = 1;
		for (int k = 0; k < v.rank; k++) n *= static_cast<size_t>(dim[k] = v.dim[k]);
		room.resize(n + 1);
		data = room.data(), type = v.type, rank = v.rank, place = PM_RT_HOST;
	}
};

static float serve(PmRtModel *m)
{
	PmRtError why;
	PmRtValue v;
	PmRtSession *s;
	std::vector<std::unique_ptr<Tensor>> t;
	must(pm_rt_session_new(m, &s, &why), why);
	std::unique_ptr<PmRtSession, void (*)(PmRtSession *)> owner(s, pm_rt_session_free);
	for (size_t i = 0; i < pm_rt_n_inputs(m); i++) {
		pm_rt_shape_input(m, 0, i, &v);
		must(pm_rt_bind_input(s, i, t.emplace_back(new Tensor(v)).get(), &why), why);
	}
	for (size_t i = 0; i < pm_rt_n_outputs(m); i++) {
		must(pm_rt_output_shape(s, i, &v, &why), why);
		must(pm_rt_bind_output(s, i, t.emplace_back(new Tensor(v)).get(), &why), why);
	}
	for (int run = 0; run < 10; run++) must(pm_rt_run(s, nullptr, 0, &why), why);
	return static_cast<const float *>(t.back()->data)[0];
}

int main(int argc, char **argv) try {
	PmRtModel *m;
	PmRtError e;
	must(pm_rt_open(argc > 1 ? argv[1] : "model.pmz", argc > 2 ? argv[2] : nullptr, &m, &e), e);
	std::unique_ptr<PmRtModel, void (*)(PmRtModel *)> owner(m, pm_rt_close);
	std::vector<std::future<float>> threads;
	for (int i = 0; i < 4; i++) threads.push_back(std::async(std::launch::async, serve, m));
	for (auto &thread : threads)
		std::printf("%s[0] = %g\n", pm_rt_output(m, pm_rt_n_outputs(m) - 1)->name, thread.get());
} catch (const std::exception &why) {
	return std::fprintf(stderr, "%s\n", why.what()), 1;
}
