/* resize_window.cu - where a result of Resize lies in the input, in double, and the weights around it, in double
 * or, where that has the places as they are, float.
 */

static __device__ inline double source(double x, double in, double out, double scale, double width, double from, double to)
{
#if COORD == 3
	return width == 1 ? 0 : x * (in - 1) / (width - 1);
#elif COORD == 4
	return x / scale;
#elif COORD == 5
	return width == 1 ? 0.5 * (from + to) * (in - 1) : from * (in - 1) + x * (to - from) * (in - 1) / (width - 1);
#elif COORD == 2
	return out == 1 ? 0 : (x + 0.5) / scale - 0.5;
#elif COORD == 1
	return in / 2 * (1 - out / width) + (x + 0.5) / scale - 0.5;
#else
	return (x + 0.5) / scale - 0.5;
#endif
}

template<typename P> static __device__ inline P weight(P d, P a)
{
	d = d < 0 ? -d : d;
#if MODE == 1
	return d < 1 ? 1 - d : 0;
#else
	if (d <= 1)
		return ((a + 2) * d - (a + 3)) * d * d + 1;
	return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
#endif
}

/* The element that the nearest mode takes. */
static __device__ inline I nearest(double pos, I extent)
{
#if ROUND == 0
	double v = ceil(pos - 0.5);
#elif ROUND == 1
	double v = floor(pos + 0.5);
#elif ROUND == 2
	double v = floor(pos);
#else
	double v = ceil(pos);
#endif
	v = v > 0 ? v : 0;
	return v > (double)(extent - 1) ? extent - 1 : (I)v;
}

/* Weight of element i for a result at pos. */
template<typename P> static __device__ inline P tap(P i, P pos, I extent, P stretch, P a)
{
#ifdef EXCLUDE_OUTSIDE
	if (i < 0 || i > (P)(extent - 1))
		return 0;
#endif
	return weight((i - pos) * stretch, a);
}

static __device__ inline I clamp(double i, I extent)
{
	i = i < 0 ? 0 : i;
	return i > (double)(extent - 1) ? extent - 1 : (I)i;
}
/* SPDX-License-Identifier: Apache-2.0 */
