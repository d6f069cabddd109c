/* SPDX-License-Identifier: Apache-2.0 */
/* http.c - one POST. */
#include "app/chat/http.h"

#include "app/chat/curl_api.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <strings.h>
#include <time.h>

enum { SECONDS = 600, MAX_BODY = 16 << 20, CONNECT_SECONDS = 30, MAX_HEADERS = 256 * 1024 };

/* What comes of one POST, while it comes. */
typedef struct Coming {
	PmHttpReply *reply;
	int64_t max_body, headers;
	int too_much;
} Coming;

int pm_http_there(PmErr *err)
{
	return pm_curl_api(err) != NULL;
}

double pm_retry_after(const char *text, int64_t now)
{
	/* The form that is in use, and the two that are still read. */
	static const char *const forms[] = { "%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
					     "%a %b %d %H:%M:%S %Y" };
	int64_t seconds;

	if (pm_parse_i64(text, &seconds))
		return seconds < 0 ? -1 : (double)seconds;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tm tm = { 0 };
		const char *end = strptime(text, forms[i], &tm);

		if (end && !*end)
			return fmax(0, difftime(timegm(&tm), (time_t)now));
	}
	return -1;
}

static size_t on_body(char *p, size_t size, size_t n, void *arg)
{
	Coming *c = arg;

	if ((int64_t)c->reply->body.len + (int64_t)(size * n) > c->max_body) {
		c->too_much = 1;
		return 0;
	}
	pm_str_addn(&c->reply->body, p, size * n);
	return size * n;
}

static size_t on_header(char *p, size_t size, size_t n, void *arg)
{
	static const char name[] = "retry-after:";
	Coming *c = arg;
	char text[128];
	size_t len = size * n, from = sizeof name - 1;

	c->headers += (int64_t)len;
	if (c->headers > MAX_HEADERS) {
		c->too_much = 1;
		return 0;
	}
	if (len <= from || strncasecmp(p, name, from) != 0)
		return len;
	while (from < len && (p[from] == ' ' || p[from] == '\t'))
		from++;
	while (len > from && (p[len - 1] == '\r' || p[len - 1] == '\n' || p[len - 1] == ' '))
		len--;
	if (len - from < sizeof text) {
		memcpy(text, p + from, len - from);
		text[len - from] = '\0';
		c->reply->retry_after = pm_retry_after(text, (int64_t)time(NULL));
	}
	return size * n;
}

/* What went wrong, for a person, and whether trying again can help. */
static PmStatus failed(const PmCurlApi *api, const PmHttpPost *post, CURLcode code, const Coming *c,
		       PmErr *err)
{
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return pm_err(err, PM_E_TIMEOUT, "%.300s gave no whole answer within %g s.", post->url,
			      post->seconds > 0 ? post->seconds : SECONDS);
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
		return pm_err(err, PM_E_INVALID,
			      "'%.300s' is no address of a chat endpoint; --base-url takes http:// or "
			      "https:// and a host.",
			      post->url);
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
		return pm_err(err, PM_E_INVALID,
			      "The certificate of %.300s is not trusted here (%s); check the address.",
			      post->url, api->text(code));
	default:
		if (c->too_much)
			return pm_err(err, PM_E_LIMIT, "%.300s answers with more than %lld bytes.", post->url,
				      (long long)c->max_body);
		return pm_err(err, PM_E_IO, "No whole answer from %.300s: %s.", post->url, api->text(code));
	}
}

/* A list of headers; NULL when there is no memory for it. */
static struct curl_slist *headers(const PmCurlApi *api, const char *key)
{
	/* An answer before the body is sent is not waited for. */
	struct curl_slist *list = api->append(NULL, "Content-Type: application/json");
	PmStr auth = PM_STR_INIT;

	api->append(list, "Accept: application/json");
	api->append(list, "Expect:");
	if (key && *key) {
		pm_str_addf(&auth, "Authorization: Bearer %s", key);
		api->append(list, auth.s);
		explicit_bzero(auth.s, auth.len);
	}
	pm_str_release(&auth);
	return list;
}

static void prepare(const PmCurlApi *api, CURL *h, const PmHttpPost *post, Coming *c)
{
	api->set(h, CURLOPT_URL, post->url);
#if CURL_AT_LEAST_VERSION(7, 85, 0)
	api->set(h, CURLOPT_PROTOCOLS_STR, "http,https");
#else
	api->set(h, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
	api->set(h, CURLOPT_FOLLOWLOCATION, 0L);
	api->set(h, CURLOPT_NOSIGNAL, 1L);
	api->set(h, CURLOPT_POST, 1L);
	api->set(h, CURLOPT_POSTFIELDS, post->body);
	api->set(h, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post->body_len);
	api->set(h, CURLOPT_USERAGENT, "passmith");
	api->set(h, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
	api->set(h, CURLOPT_TIMEOUT_MS,
		 (long)(1000 * (post->seconds > 0 ? fmin(post->seconds, 1e6) : SECONDS)));
	api->set(h, CURLOPT_WRITEFUNCTION, on_body);
	api->set(h, CURLOPT_WRITEDATA, (void *)c);
	api->set(h, CURLOPT_HEADERFUNCTION, on_header);
	api->set(h, CURLOPT_HEADERDATA, (void *)c);
}

PmStatus pm_http_post(const PmHttpPost *post, PmHttpReply *reply, PmErr *err)
{
	const PmCurlApi *api = pm_curl_api(err);
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
	Coming c = { .reply = reply, .max_body = post->max_body > 0 ? post->max_body : MAX_BODY };
	struct curl_slist *list;
	CURLcode code;
	long status = 0;
	CURL *h;

	memset(reply, 0, sizeof *reply);
	pm_str_init(&reply->body);
	reply->retry_after = -1;
	if (!api)
		return PM_E_ENV;
	h = api->easy_new();
	if (!h)
		return pm_err(err, PM_E_ENV, "libcurl cannot begin a request; there is no memory for it.");
	prepare(api, h, post, &c);
	list = headers(api, post->key);
	api->set(h, CURLOPT_HTTPHEADER, list);
	/* A server that hangs up while we write: an error of this request and no signal. */
	sigaction(SIGPIPE, &ignore, &old);
	code = api->perform(h);
	sigaction(SIGPIPE, &old, NULL);
	api->info(h, CURLINFO_RESPONSE_CODE, &status);
	api->info(h, CURLINFO_TOTAL_TIME, &reply->seconds);
	reply->status = (int)status;
	api->easy_free(h);
	api->free_list(list);
	return code == CURLE_OK ? PM_OK : failed(api, post, code, &c, err);
}

void pm_http_reply_release(PmHttpReply *reply)
{
	pm_str_release(&reply->body);
}
