/* SPDX-License-Identifier: Apache-2.0 */
/* lacking_cupti.c - a CUPTI of before CUDA 12.6: it says its version and has no range profiler. counters.sh
 * puts it where the loader looks first. */
int cuptiGetVersion(unsigned *version);
int cuptiGetResultString(int error, const char **text);

int cuptiGetVersion(unsigned *version)
{
	*version = 22;
	return 0;
}

int cuptiGetResultString(int error, const char **text)
{
	*text = "an error";
	return error == 0;
}
