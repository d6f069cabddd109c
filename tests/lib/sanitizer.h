/* SPDX-License-Identifier: Apache-2.0 */
/* sanitizer.h - whether a test was built with AddressSanitizer or ThreadSanitizer, which have functions of
 * their own in the place of the C library's. */
#ifndef TESTS_LIB_SANITIZER_H
#define TESTS_LIB_SANITIZER_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER 1
#elif defined(__has_feature)
#define SANITIZER (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZER 0
#endif

#endif
