/* SPDX-License-Identifier: Apache-2.0 */
/* curl_api.h - the functions of libcurl that are used, found at run time. */
#ifndef CHAT_CURL_API_H
#define CHAT_CURL_API_H

#include "base/core/err.h"

#include <curl/curl.h>

typedef struct PmCurlApi {
	CURLcode (*global_init)(long);
	CURL *(*easy_new)(void);
	void (*easy_free)(CURL *);
	CURLcode (*set)(CURL *, CURLoption, ...);
	CURLcode (*perform)(CURL *);
	CURLcode (*info)(CURL *, CURLINFO, ...);
	const char *(*text)(CURLcode);
	struct curl_slist *(*append)(struct curl_slist *, const char *);
	void (*free_list)(struct curl_slist *);
} PmCurlApi;

/* Opens libcurl once for the process. NULL and PM_E_ENV when it is not there or lacks a function. */
const PmCurlApi *pm_curl_api(PmErr *err);

#endif
