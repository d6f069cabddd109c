/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_priv.h - CUPTI's functions and the structures they take, as its documentation has them.
 *
 * CUPTI's range profiler and profiler host interfaces (CUDA 12.6 and later). A build needs no toolkit, so
 * these are declarations of our own; test_cupti.c compares them with the real headers where those are there.
 * Each structure begins with its size up to its last member, without padding behind that: so the library
 * knows which version of it the caller has.
 */
#ifndef RUNTIME_CUDA_CUPTI_PRIV_H
#define RUNTIME_CUDA_CUPTI_PRIV_H

#include "runtime/cuda/cupti/cupti.h"

#include <stddef.h>
#include <stdint.h>

typedef struct CuptiHost CuptiHost;
typedef struct CuptiRange CuptiRange;

#define CUPTI_HEAD                                                                                           \
	size_t size;                                                                                         \
	void *unused

typedef struct CuptiInit {
	CUPTI_HEAD;
} CuptiInit;
typedef struct CuptiChip {
	CUPTI_HEAD;
	size_t device;
	const char *chip; /* out */
} CuptiChip;
typedef struct CuptiAvailable {
	CUPTI_HEAD;
	void *ctx;
	size_t image_size; /* in and out */
	uint8_t *image;
} CuptiAvailable;
typedef struct CuptiHostInit {
	CUPTI_HEAD;
	int type; /* 0: range profiler */
	const char *chip;
	const uint8_t *available;
	CuptiHost *host; /* out */
} CuptiHostInit;
typedef struct CuptiHostEnd {
	CUPTI_HEAD;
	CuptiHost *host;
} CuptiHostEnd;
typedef struct CuptiHostProperties {
	CUPTI_HEAD;
	CuptiHost *host;
	const char *metric;
	const char *description, *unit, *dimension; /* out */
	int type;                                   /* out */
} CuptiHostProperties;
typedef struct CuptiHostAdd {
	CUPTI_HEAD;
	CuptiHost *host;
	const char **metrics;
	size_t n;
} CuptiHostAdd;
typedef struct CuptiHostConfigSize {
	CUPTI_HEAD;
	CuptiHost *host;
	size_t config_size; /* out */
} CuptiHostConfigSize;
typedef struct CuptiHostConfig {
	CUPTI_HEAD;
	CuptiHost *host;
	size_t config_size;
	uint8_t *config;
} CuptiHostConfig;
typedef struct CuptiHostPasses {
	CUPTI_HEAD;
	size_t config_size;
	uint8_t *config;
	size_t passes; /* out */
} CuptiHostPasses;
typedef struct CuptiHostEvaluate {
	CUPTI_HEAD;
	CuptiHost *host;
	const uint8_t *data;
	size_t data_size;
	size_t range;
	const char **metrics;
	size_t n;
	double *values; /* out */
} CuptiHostEvaluate;
typedef struct CuptiEnable {
	CUPTI_HEAD;
	void *ctx;
	CuptiRange *range; /* out */
} CuptiEnable;
/* Of Disable and Start. */
typedef struct CuptiOfRange {
	CUPTI_HEAD;
	CuptiRange *range;
} CuptiOfRange;
typedef struct CuptiStop {
	CUPTI_HEAD;
	CuptiRange *range;
	size_t pass, level; /* out */
	uint8_t all;        /* out: all passes are submitted */
} CuptiStop;
typedef struct CuptiDecode {
	CUPTI_HEAD;
	CuptiRange *range;
	size_t dropped; /* out */
} CuptiDecode;
typedef struct CuptiDataSize {
	CUPTI_HEAD;
	CuptiRange *range;
	const char **metrics;
	size_t n, max_ranges;
	uint32_t max_nodes;
	size_t data_size; /* out */
} CuptiDataSize;
typedef struct CuptiDataInit {
	CUPTI_HEAD;
	CuptiRange *range;
	size_t data_size;
	uint8_t *data;
} CuptiDataInit;
typedef struct CuptiSetConfig {
	CUPTI_HEAD;
	CuptiRange *range;
	size_t config_size;
	const uint8_t *config;
	size_t data_size;
	uint8_t *data;
	int mode, replay; /* CUPTI_AUTO_RANGE, CUPTI_USER_REPLAY */
	size_t max_ranges;
	uint16_t levels, first_level;
	size_t pass;
	uint16_t target_level;
} CuptiSetConfig;
typedef struct CuptiDataInfo {
	CUPTI_HEAD;
	const uint8_t *data;
	size_t data_size;
	size_t ranges; /* out */
} CuptiDataInfo;

/* The size that a structure says of itself, by its last member. */
#define CUPTI_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

enum {
	CUPTI_AUTO_RANGE = 1,
	CUPTI_USER_REPLAY = 3,
	CUPTI_NO_SUCH_METRIC = 17,
	CUPTI_NO_PRIVILEGES = 35,
	CUPTI_NO_PRIVILEGES_VIRTUAL = 40
};

/* XX(member, symbol, structure, its last member). All return int, 0 is success. */
#define PM__CUPTI_FUNCTIONS(XX)                                                                              \
	XX(init, cuptiProfilerInitialize, CuptiInit, unused)                                                 \
	XX(chip, cuptiDeviceGetChipName, CuptiChip, chip)                                                    \
	XX(available, cuptiProfilerGetCounterAvailability, CuptiAvailable, image)                            \
	XX(host_init, cuptiProfilerHostInitialize, CuptiHostInit, host)                                      \
	XX(host_end, cuptiProfilerHostDeinitialize, CuptiHostEnd, host)                                      \
	XX(host_properties, cuptiProfilerHostGetMetricProperties, CuptiHostProperties, type)                 \
	XX(host_add, cuptiProfilerHostConfigAddMetrics, CuptiHostAdd, n)                                     \
	XX(host_config_size, cuptiProfilerHostGetConfigImageSize, CuptiHostConfigSize, config_size)          \
	XX(host_config, cuptiProfilerHostGetConfigImage, CuptiHostConfig, config)                            \
	XX(host_passes, cuptiProfilerHostGetNumOfPasses, CuptiHostPasses, passes)                            \
	XX(host_evaluate, cuptiProfilerHostEvaluateToGpuValues, CuptiHostEvaluate, values)                   \
	XX(enable, cuptiRangeProfilerEnable, CuptiEnable, range)                                             \
	XX(disable, cuptiRangeProfilerDisable, CuptiOfRange, range)                                          \
	XX(set_config, cuptiRangeProfilerSetConfig, CuptiSetConfig, target_level)                            \
	XX(start, cuptiRangeProfilerStart, CuptiOfRange, range)                                              \
	XX(stop, cuptiRangeProfilerStop, CuptiStop, all)                                                     \
	XX(decode, cuptiRangeProfilerDecodeData, CuptiDecode, dropped)                                       \
	XX(data_size, cuptiRangeProfilerGetCounterDataSize, CuptiDataSize, data_size)                        \
	XX(data_init, cuptiRangeProfilerCounterDataImageInitialize, CuptiDataInit, data)                     \
	XX(data_info, cuptiRangeProfilerGetCounterDataInfo, CuptiDataInfo, ranges)

typedef struct PmCuptiApi {
	void *so;
	uint32_t version;
	int (*get_version)(uint32_t *version);
	int (*result_string)(int error, const char **text);
#define XX(member, symbol, structure, last) int (*member)(structure *);
	PM__CUPTI_FUNCTIONS(XX)
#undef XX
} PmCuptiApi;

/* Finds the library, which then stays in the process. PM_E_ENV says what is missing. */
PmStatus pm__cupti_api(PmCuptiApi *out, PmErr *err);
/* pm_cupti_open with these functions, which are copied. */
PmStatus pm__cupti_session(const PmCuptiApi *a, void *ctx, int device, PmCupti **out, PmErr *err);
/* "CUPTI's cuptiX fails with error 35 (CUPTI_ERROR_...)." and, where permission is what it lacks, how to
 * allow it. PM_E_ENV. */
PmStatus pm__cupti_fail(const PmCuptiApi *a, const char *function, int error, PmErr *err);

#endif
