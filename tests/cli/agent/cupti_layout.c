/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_layout.c - our declarations of CUPTI beside the toolkit's: it compiles when they agree. counters.sh
 * compiles it where the toolkit's headers are, with an empty header in place of C++'s <string>. */
#include "runtime/cuda/cupti/cupti_priv.h"

#include <cuda.h>
#include <cupti_profiler_host.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

/* The size that a structure says of itself, and where each member lies and how large it is. */
#define SIZE(ours, last, theirs)                                                                             \
	_Static_assert(CUPTI_SIZE(ours, last) == theirs##_STRUCT_SIZE, #theirs " has another size");
#define AT(ours, a, theirs, b)                                                                               \
	_Static_assert(offsetof(ours, a) == offsetof(theirs, b) &&                                           \
			       sizeof(((ours *)0)->a) == sizeof(((theirs *)0)->b),                           \
		       #theirs "." #b " lies elsewhere");

SIZE(CuptiInit, unused, CUpti_Profiler_Initialize_Params)
SIZE(CuptiChip, chip, CUpti_Device_GetChipName_Params)
AT(CuptiChip, device, CUpti_Device_GetChipName_Params, deviceIndex)
SIZE(CuptiAvailable, image, CUpti_Profiler_GetCounterAvailability_Params)
AT(CuptiAvailable, ctx, CUpti_Profiler_GetCounterAvailability_Params, ctx)
AT(CuptiAvailable, image_size, CUpti_Profiler_GetCounterAvailability_Params, counterAvailabilityImageSize)
AT(CuptiAvailable, image, CUpti_Profiler_GetCounterAvailability_Params, pCounterAvailabilityImage)
SIZE(CuptiHostInit, host, CUpti_Profiler_Host_Initialize_Params)
AT(CuptiHostInit, type, CUpti_Profiler_Host_Initialize_Params, profilerType)
AT(CuptiHostInit, chip, CUpti_Profiler_Host_Initialize_Params, pChipName)
AT(CuptiHostInit, available, CUpti_Profiler_Host_Initialize_Params, pCounterAvailabilityImage)
AT(CuptiHostInit, host, CUpti_Profiler_Host_Initialize_Params, pHostObject)
SIZE(CuptiHostEnd, host, CUpti_Profiler_Host_Deinitialize_Params)
SIZE(CuptiHostProperties, type, CUpti_Profiler_Host_GetMetricProperties_Params)
AT(CuptiHostProperties, metric, CUpti_Profiler_Host_GetMetricProperties_Params, pMetricName)
AT(CuptiHostProperties, description, CUpti_Profiler_Host_GetMetricProperties_Params, pDescription)
AT(CuptiHostProperties, unit, CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit)
AT(CuptiHostProperties, dimension, CUpti_Profiler_Host_GetMetricProperties_Params, pDimUnit)
SIZE(CuptiHostAdd, n, CUpti_Profiler_Host_ConfigAddMetrics_Params)
AT(CuptiHostAdd, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params, ppMetricNames)
SIZE(CuptiHostConfigSize, config_size, CUpti_Profiler_Host_GetConfigImageSize_Params)
SIZE(CuptiHostConfig, config, CUpti_Profiler_Host_GetConfigImage_Params)
AT(CuptiHostConfig, config_size, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize)
SIZE(CuptiHostPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params)
AT(CuptiHostPasses, config_size, CUpti_Profiler_Host_GetNumOfPasses_Params, configImageSize)
AT(CuptiHostPasses, config, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage)
SIZE(CuptiHostEvaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params)
AT(CuptiHostEvaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params, pCounterDataImage)
AT(CuptiHostEvaluate, data_size, CUpti_Profiler_Host_EvaluateToGpuValues_Params, counterDataImageSize)
AT(CuptiHostEvaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex)
AT(CuptiHostEvaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params, ppMetricNames)
AT(CuptiHostEvaluate, n, CUpti_Profiler_Host_EvaluateToGpuValues_Params, numMetrics)
SIZE(CuptiEnable, range, CUpti_RangeProfiler_Enable_Params)
AT(CuptiEnable, ctx, CUpti_RangeProfiler_Enable_Params, ctx)
SIZE(CuptiOfRange, range, CUpti_RangeProfiler_Disable_Params)
SIZE(CuptiOfRange, range, CUpti_RangeProfiler_Start_Params)
SIZE(CuptiStop, all, CUpti_RangeProfiler_Stop_Params)
AT(CuptiStop, pass, CUpti_RangeProfiler_Stop_Params, passIndex)
AT(CuptiStop, level, CUpti_RangeProfiler_Stop_Params, targetNestingLevel)
AT(CuptiStop, all, CUpti_RangeProfiler_Stop_Params, isAllPassSubmitted)
SIZE(CuptiDecode, dropped, CUpti_RangeProfiler_DecodeData_Params)
SIZE(CuptiDataSize, data_size, CUpti_RangeProfiler_GetCounterDataSize_Params)
AT(CuptiDataSize, metrics, CUpti_RangeProfiler_GetCounterDataSize_Params, pMetricNames)
AT(CuptiDataSize, n, CUpti_RangeProfiler_GetCounterDataSize_Params, numMetrics)
AT(CuptiDataSize, max_ranges, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumOfRanges)
AT(CuptiDataSize, max_nodes, CUpti_RangeProfiler_GetCounterDataSize_Params, maxNumRangeTreeNodes)
SIZE(CuptiDataInit, data, CUpti_RangeProfiler_CounterDataImage_Initialize_Params)
AT(CuptiDataInit, data_size, CUpti_RangeProfiler_CounterDataImage_Initialize_Params, counterDataSize)
SIZE(CuptiSetConfig, target_level, CUpti_RangeProfiler_SetConfig_Params)
AT(CuptiSetConfig, config_size, CUpti_RangeProfiler_SetConfig_Params, configSize)
AT(CuptiSetConfig, config, CUpti_RangeProfiler_SetConfig_Params, pConfig)
AT(CuptiSetConfig, data_size, CUpti_RangeProfiler_SetConfig_Params, counterDataImageSize)
AT(CuptiSetConfig, data, CUpti_RangeProfiler_SetConfig_Params, pCounterDataImage)
AT(CuptiSetConfig, mode, CUpti_RangeProfiler_SetConfig_Params, range)
AT(CuptiSetConfig, replay, CUpti_RangeProfiler_SetConfig_Params, replayMode)
AT(CuptiSetConfig, max_ranges, CUpti_RangeProfiler_SetConfig_Params, maxRangesPerPass)
AT(CuptiSetConfig, levels, CUpti_RangeProfiler_SetConfig_Params, numNestingLevels)
AT(CuptiSetConfig, first_level, CUpti_RangeProfiler_SetConfig_Params, minNestingLevel)
AT(CuptiSetConfig, pass, CUpti_RangeProfiler_SetConfig_Params, passIndex)
SIZE(CuptiDataInfo, ranges, CUpti_RangeProfiler_GetCounterDataInfo_Params)
AT(CuptiDataInfo, data_size, CUpti_RangeProfiler_GetCounterDataInfo_Params, counterDataImageSize)

_Static_assert((int)CUPTI_AUTO_RANGE == CUPTI_AutoRange && (int)CUPTI_USER_REPLAY == CUPTI_UserReplay,
	       "modes have other numbers");
_Static_assert((int)CUPTI_NO_PRIVILEGES == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES &&
		       (int)CUPTI_NO_PRIVILEGES_VIRTUAL ==
			       CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES &&
		       CUPTI_PROFILER_TYPE_RANGE_PROFILER == 0,
	       "errors have other numbers");
