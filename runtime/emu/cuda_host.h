/* cuda_host.h - CUDA C++ for a host compiler; put in front of every kernel by emu_build.c. */
#ifndef RUNTIME_EMU_CUDA_HOST_H
#define RUNTIME_EMU_CUDA_HOST_H
#ifdef __cplusplus

#include "cuda_base.h"

#include "cuda_vector.h"
#include "cuda_warp.h"

#endif
#endif
