/* SPDX-License-Identifier: Apache-2.0 */
/* asan.h - PM_ASAN: 1 in a build with AddressSanitizer, which has an allocator of its own and wants to be
 * told of stacks that take turns. */
#ifndef BASE_ASAN_H
#define BASE_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define PM_ASAN 1
#elif defined(__has_feature)
#define PM_ASAN __has_feature(address_sanitizer)
#else
#define PM_ASAN 0
#endif

#endif
