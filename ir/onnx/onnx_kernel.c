/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_kernel.c - what a function of the model cannot say of a kernel, as JSON and back. */
#include "ir/onnx/onnx_kernel.h"

#include "base/core/hash.h"
#include "base/core/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text(const char *s)
{
	return s ? s : "";
}

/* ---- writing ---- */

static cJSON *int_json(int64_t v)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lld", (long long)v);
	return cJSON_CreateRaw(digits);
}

static cJSON *bytes_json(const void *p, size_t n)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, int_json(((const unsigned char *)p)[i]));
	return list;
}

static cJSON *string_json(const char *s, size_t n)
{
	cJSON *o;

	if (strlen(s) == n && pm__utf8_ok(s, n))
		return cJSON_CreateString(s);
	o = cJSON_CreateObject();
	cJSON_AddItemToObject(o, "bytes", bytes_json(s, n));
	return o;
}

/* NULL when kernels lack that kind. */
static cJSON *attr_json(const PmAttr *a)
{
	cJSON *list;

	switch (a->kind) {
	case PM_ATTR_INT:
		return int_json(a->i);
	case PM_ATTR_STRING:
		return string_json(a->s, a->n);
	case PM_ATTR_INTS:
		list = cJSON_CreateArray();
		for (size_t i = 0; i < a->n; i++)
			cJSON_AddItemToArray(list, int_json(a->ints[i]));
		return list;
	case PM_ATTR_STRINGS:
		list = cJSON_CreateArray();
		for (size_t i = 0; i < a->n; i++)
			cJSON_AddItemToArray(list, string_json(a->strings[i], strlen(a->strings[i])));
		return list;
	case PM_ATTR_GRAPH:
		return strcmp(a->name, "body") == 0 ? cJSON_CreateNull() : NULL;
	default:
		return NULL;
	}
}

static cJSON *dim_json(const Onnx__TensorShapeProto__Dimension *d)
{
	switch (d->value_case) {
	case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE:
		return int_json(d->dim_value);
	case ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM:
		return cJSON_CreateString(text(d->dim_param));
	default:
		return cJSON_CreateNull();
	}
}

static cJSON *foreign_type_json(const Onnx__TypeProto *t)
{
	size_t n = onnx__type_proto__get_packed_size(t);
	uint8_t *buf = pm_xmalloc(n + 1);
	cJSON *j;

	onnx__type_proto__pack(t, buf);
	j = bytes_json(buf, n);
	free(buf);
	return j;
}

static cJSON *info_json(const Onnx__ValueInfoProto *info)
{
	const Onnx__TypeProto *t = info->type;
	const Onnx__TypeProto__Tensor *tt = t && t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE
						    ? t->tensor_type
						    : NULL;
	int dtype = tt ? pm_dtype_from_onnx(tt->elem_type) : -1;
	cJSON *o = cJSON_CreateObject(), *shape;

	cJSON_AddStringToObject(o, "name", text(info->name));
	if (dtype >= 0)
		cJSON_AddStringToObject(o, "type", pm_dtype_name(dtype));
	else if (t)
		cJSON_AddItemToObject(o, "type", foreign_type_json(t));
	if (dtype >= 0 && tt->shape) {
		shape = cJSON_AddArrayToObject(o, "shape");
		for (size_t k = 0; k < tt->shape->n_dim; k++)
			cJSON_AddItemToArray(shape, dim_json(tt->shape->dim[k]));
	}
	return o;
}

static void add_infos(cJSON *o, const char *key, Onnx__ValueInfoProto **v, size_t n)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);

	for (size_t i = 0; i < n; i++)
		cJSON_AddItemToArray(list, info_json(v[i]));
}

PmStatus pm__kernel_text(const PmGraph *g, PmNode n, const Onnx__GraphProto *body, size_t copies, PmStr *out,
			 PmErr *err)
{
	cJSON *o = cJSON_CreateObject(), *attrs;
	PmStatus st = PM_OK;

	cJSON_AddStringToObject(o, "name", text(body->name));
	pm_json_add_i64(o, "constants", (int64_t)body->n_initializer);
	pm_json_add_i64(o, "copies", (int64_t)copies);
	add_infos(o, "inputs", body->input, body->n_input);
	add_infos(o, "outputs", body->output, body->n_output);
	add_infos(o, "values", body->value_info, body->n_value_info);
	attrs = cJSON_AddObjectToObject(o, "attributes");
	for (size_t k = 0; k < pm_node_n_attrs(g, n) && !st; k++) {
		const PmAttr *a = pm_node_attr_at(g, n, k);
		cJSON *j = pm__utf8_ok(a->name, strlen(a->name)) ? attr_json(a) : NULL;

		if (j)
			cJSON_AddItemToObject(attrs, a->name, j);
		else
			st = pm_err(err, PM_E_UNSUPPORTED,
				    "A Kernel node has the attribute '%.100s', which kernels lack, so it "
				    "cannot be written; remove it.",
				    a->name);
	}
	if (!st)
		pm_json_print(o, 0, out);
	if (!st && out->len && out->s[out->len - 1] == '\n')
		out->s[--out->len] = '\0';
	cJSON_Delete(o);
	return st;
}

/* ---- names ---- */

void pm__kernel_name(const Onnx__FunctionProto *f, const char *meta, size_t n, char name[PM_ONNX_KERNEL_NAME])
{
	Onnx__FunctionProto nameless = *f;
	PmStr all = PM_STR_INIT;
	char hex[PM_SHA256_HEX];
	size_t size;
	uint8_t *buf;

	nameless.name = NULL;
	nameless.doc_string = NULL;
	nameless.base.n_unknown_fields = 0;
	size = onnx__function_proto__get_packed_size(&nameless);
	buf = pm_xmalloc(size + 1);
	onnx__function_proto__pack(&nameless, buf);
	pm_str_addn(&all, (const char *)buf, size);
	pm_str_addn(&all, meta, n);
	pm_sha256_hex(all.s, all.len, hex);
	snprintf(name, PM_ONNX_KERNEL_NAME, PM_ONNX_KERNEL_PREFIX "%.16s", hex);
	pm_str_release(&all);
	free(buf);
}

/* ---- reading ---- */

typedef struct Reader {
	PmArena *arena;
	PmErr *err;
	const char *function; /* its name */
} Reader;

static PmStatus wrong(const Reader *r, const char *what)
{
	return pm_err(r->err, PM_E_INVALID, "The metadata of the function '%.100s' %s.", r->function, what);
}

/* Zeroed; NULL when the import has used up its memory. */
static void *take(const Reader *r, size_t n, size_t size)
{
	return pm_arena_alloc(r->arena, (n ? n : 1) * size);
}

static size_t count(const cJSON *list)
{
	size_t n = 0;

	for (const cJSON *c = list ? list->child : NULL; c; c = c->next)
		n++;
	return n;
}

static int read_int(const cJSON *j, int64_t *v)
{
	if (!cJSON_IsNumber(j))
		return 0;
	if (j->valuestring)
		return pm_parse_i64(j->valuestring, v);
	*v = (int64_t)j->valuedouble; /* below 2^53, or its text would have been kept */
	return j->valuedouble == floor(j->valuedouble) && fabs(j->valuedouble) < 0x1p53;
}

/* A list of numbers from 0 to 255. */
static PmStatus read_bytes(const Reader *r, const cJSON *list, ProtobufCBinaryData *out)
{
	uint8_t *p = take(r, count(list) + 1, 1);
	size_t n = 0;
	int64_t v;

	if (!p)
		return wrong(r, "takes too much memory");
	for (const cJSON *c = list->child; c; c = c->next) {
		if (!read_int(c, &v) || v < 0 || v > 255)
			return wrong(r, "has a list of bytes with something else in it");
		p[n++] = (uint8_t)v;
	}
	*out = (ProtobufCBinaryData){ n, p };
	return PM_OK;
}

static PmStatus read_string(const Reader *r, const cJSON *j, ProtobufCBinaryData *out)
{
	const cJSON *bytes = cJSON_GetObjectItemCaseSensitive(j, "bytes");
	char *s;

	if (cJSON_IsArray(bytes))
		return read_bytes(r, bytes, out);
	s = cJSON_IsString(j) ? pm_arena_strdup(r->arena, j->valuestring) : NULL;
	if (!s)
		return wrong(r, "lacks a text");
	*out = (ProtobufCBinaryData){ strlen(s), (uint8_t *)s };
	return PM_OK;
}

static PmStatus read_ints(const Reader *r, const cJSON *list, Onnx__AttributeProto *a)
{
	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
	a->ints = take(r, count(list), sizeof *a->ints);
	if (!a->ints)
		return wrong(r, "takes too much memory");
	for (const cJSON *c = list->child; c; c = c->next)
		if (!read_int(c, &a->ints[a->n_ints++]))
			return wrong(r, "has a list of integers with something else in it");
	return PM_OK;
}

static PmStatus read_strings(const Reader *r, const cJSON *list, Onnx__AttributeProto *a)
{
	PmStatus st = PM_OK;

	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRINGS;
	a->strings = take(r, count(list), sizeof *a->strings);
	if (!a->strings)
		return wrong(r, "takes too much memory");
	for (const cJSON *c = list->child; c && !st; c = c->next)
		st = read_string(r, c, &a->strings[a->n_strings++]);
	return st;
}

static PmStatus read_attr(const Reader *r, const cJSON *j, Onnx__GraphProto *body, Onnx__AttributeProto *a)
{
	onnx__attribute_proto__init(a);
	a->has_type = 1;
	a->name = pm_arena_strdup(r->arena, text(j->string));
	if (!a->name)
		return wrong(r, "takes too much memory");
	if (cJSON_IsNull(j)) {
		a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__GRAPH;
		a->g = body;
		return PM_OK;
	}
	if (cJSON_IsNumber(j)) {
		a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT;
		a->has_i = 1;
		return read_int(j, &a->i) ? PM_OK : wrong(r, "has a number that is no integer");
	}
	if (cJSON_IsArray(j))
		return cJSON_IsString(j->child) || cJSON_IsObject(j->child) ? read_strings(r, j, a)
									    : read_ints(r, j, a);
	a->type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING;
	a->has_s = 1;
	return read_string(r, j, &a->s);
}

static PmStatus read_shape(const Reader *r, const cJSON *list, Onnx__TensorShapeProto *s)
{
	onnx__tensor_shape_proto__init(s);
	s->dim = take(r, count(list), sizeof *s->dim);
	for (const cJSON *c = list->child; c && s->dim; c = c->next) {
		Onnx__TensorShapeProto__Dimension *d = take(r, 1, sizeof *d);

		if (!d)
			return wrong(r, "takes too much memory");
		onnx__tensor_shape_proto__dimension__init(d);
		s->dim[s->n_dim++] = d;
		if (cJSON_IsString(c)) {
			d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
			d->dim_param = pm_arena_strdup(r->arena, c->valuestring);
		} else if (cJSON_IsNumber(c)) {
			d->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
			if (!read_int(c, &d->dim_value))
				return wrong(r, "has a size that is no integer");
		} else if (!cJSON_IsNull(c)) {
			return wrong(r, "has a size that is neither a number nor a name");
		}
		if (cJSON_IsString(c) && !d->dim_param)
			return wrong(r, "takes too much memory");
	}
	return s->dim ? PM_OK : wrong(r, "takes too much memory");
}

static PmStatus read_foreign_type(const Reader *r, const cJSON *list, Onnx__TypeProto **out)
{
	ProtobufCAllocator alloc = pm__onnx_arena_allocator(r->arena);
	ProtobufCBinaryData b;
	PmStatus st = read_bytes(r, list, &b);

	if (!st && pm__onnx_scan(&onnx__type_proto__descriptor, b.data, b.len, NULL))
		st = wrong(r, "has a type whose bytes are none");
	if (!st)
		*out = (Onnx__TypeProto *)protobuf_c_message_unpack(&onnx__type_proto__descriptor, &alloc,
								    b.len, b.data);
	return st || *out ? st : wrong(r, "has a type whose bytes are none");
}

static PmStatus read_type(const Reader *r, const cJSON *info, Onnx__TypeProto **out)
{
	const cJSON *type = cJSON_GetObjectItemCaseSensitive(info, "type");
	const cJSON *shape = cJSON_GetObjectItemCaseSensitive(info, "shape");
	int dtype = cJSON_IsString(type) ? pm_dtype_from_name(type->valuestring) : -1;
	Onnx__TypeProto__Tensor *tt;

	if (!type)
		return PM_OK;
	if (cJSON_IsArray(type))
		return read_foreign_type(r, type, out);
	if (dtype < 0)
		return wrong(r, "has an element type that is none");
	*out = take(r, 1, sizeof **out);
	tt = take(r, 1, sizeof *tt);
	if (!*out || !tt)
		return wrong(r, "takes too much memory");
	onnx__type_proto__init(*out);
	onnx__type_proto__tensor__init(tt);
	(*out)->value_case = ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE;
	(*out)->tensor_type = tt;
	tt->has_elem_type = 1;
	tt->elem_type = pm_dtype_to_onnx(dtype);
	if (!cJSON_IsArray(shape))
		return PM_OK;
	tt->shape = take(r, 1, sizeof *tt->shape);
	return tt->shape ? read_shape(r, shape, tt->shape) : wrong(r, "takes too much memory");
}

static PmStatus read_infos(const Reader *r, const cJSON *o, const char *key, Onnx__ValueInfoProto ***out,
			   size_t *n)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key);
	PmStatus st = PM_OK;

	if (!cJSON_IsArray(list))
		return wrong(r, "lacks one of the lists of types");
	*out = take(r, count(list), sizeof **out);
	for (const cJSON *c = list->child; c && *out && !st; c = c->next) {
		Onnx__ValueInfoProto *info = take(r, 1, sizeof *info);

		if (!info)
			return wrong(r, "takes too much memory");
		onnx__value_info_proto__init(info);
		info->name = pm_arena_strdup(r->arena, pm_json_str(c, "name", ""));
		(*out)[(*n)++] = info;
		st = info->name ? read_type(r, c, &info->type) : wrong(r, "takes too much memory");
	}
	return st || *out ? st : wrong(r, "takes too much memory");
}

/* The first nodes of the function become initializers, the last ones go. */
static PmStatus split_nodes(const Reader *r, const cJSON *o, const Onnx__FunctionProto *f,
			    Onnx__GraphProto *body)
{
	int64_t first = pm_json_i64(o, "constants", -1), last = pm_json_i64(o, "copies", -1);
	size_t n = f->n_node;

	if (first < 0 || last < 0 || (uint64_t)first > n || (uint64_t)last > n - (uint64_t)first)
		return wrong(r, "speaks of nodes that the function lacks");
	body->initializer = take(r, (size_t)first, sizeof *body->initializer);
	if (!body->initializer)
		return wrong(r, "takes too much memory");
	for (; body->n_initializer < (size_t)first; body->n_initializer++) {
		const Onnx__NodeProto *np = f->node[body->n_initializer];

		if (strcmp(text(np->op_type), "Constant") || np->n_attribute != 1 || !np->attribute[0]->t)
			return wrong(r, "speaks of constants that the function lacks");
		body->initializer[body->n_initializer] = np->attribute[0]->t;
	}
	body->node = f->node + first;
	body->n_node = n - (size_t)first - (size_t)last;
	return PM_OK;
}

static PmStatus read_body(const Reader *r, const cJSON *o, const Onnx__FunctionProto *f,
			  Onnx__GraphProto *body)
{
	PmStatus st = read_infos(r, o, "inputs", &body->input, &body->n_input);

	if (!st)
		st = read_infos(r, o, "outputs", &body->output, &body->n_output);
	if (!st)
		st = read_infos(r, o, "values", &body->value_info, &body->n_value_info);
	if (!st)
		st = split_nodes(r, o, f, body);
	body->name = pm_arena_strdup(r->arena, pm_json_str(o, "name", ""));
	if (!st && !body->name)
		st = wrong(r, "takes too much memory");
	if (!st && (body->n_input != f->n_input || body->n_output != f->n_output))
		st = wrong(r, "lists other operands or results than the function");
	return st;
}

static PmStatus read_attrs(const Reader *r, const cJSON *o, Onnx__GraphProto *body, Onnx__NodeProto *node)
{
	const cJSON *attrs = cJSON_GetObjectItemCaseSensitive(o, "attributes");
	PmStatus st = PM_OK;
	size_t bodies = 0;

	if (!cJSON_IsObject(attrs))
		return wrong(r, "lacks the attributes");
	node->attribute = take(r, count(attrs), sizeof *node->attribute);
	for (const cJSON *c = attrs->child; c && node->attribute && !st; c = c->next) {
		Onnx__AttributeProto *a = take(r, 1, sizeof *a);

		if (!a)
			return wrong(r, "takes too much memory");
		node->attribute[node->n_attribute++] = a;
		bodies += cJSON_IsNull(c);
		st = read_attr(r, c, body, a);
	}
	if (!st && !node->attribute)
		st = wrong(r, "takes too much memory");
	return st || bodies == 1 ? st : wrong(r, "does not say which attribute is the body");
}

PmStatus pm__kernel_read(const char *meta, size_t n, const Onnx__FunctionProto *f, PmArena *arena,
			 Onnx__NodeProto *node, PmErr *err)
{
	const Reader r = { arena, err, text(f->name) };
	Onnx__GraphProto *body = take(&r, 1, sizeof *body);
	cJSON *o = NULL;
	PmStatus st;

	onnx__node_proto__init(node);
	if (!body || n > PM_ONNX_MAX_KERNEL_TEXT)
		return wrong(&r, "takes too much memory");
	onnx__graph_proto__init(body);
	if (pm_json_parse(meta, n, &o, NULL))
		return wrong(&r, "is not JSON");
	st = cJSON_IsObject(o) ? read_body(&r, o, f, body) : wrong(&r, "is not a JSON object");
	if (!st)
		st = read_attrs(&r, o, body, node);
	cJSON_Delete(o);
	return st;
}
