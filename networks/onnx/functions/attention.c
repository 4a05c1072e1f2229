/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attention with what the kernel has not (keys and values of the past, masks, softcap), and
 * operators of ONNX Runtime around attention: functions of standard operators, whose bodies follow
 * from the call. The syntax of bodies is that of contrib.def.
 */
#include <inttypes.h>
#include <math.h>

#include "networks/onnx/functions/contrib.h"

/* A number of heads, which shapes are divided by; 0: none that can be. */
static uint64_t heads_of(const struct onnx_call *call, const char *attribute) {
  enum { MOST = 1 << 20 };
  int64_t heads = onnx_int(call, attribute, 0);
  return heads < 1 || heads > MOST ? 0 : (uint64_t)heads;
}

static bool given_between(const struct onnx_call *call, uint32_t first, uint32_t last) {
  for (uint32_t i = first; i <= last; i++)
    if (onnx_given(call, i))
      return true;
  return false;
}

/* ---- attention ---------------------------------------------------------------------------------
 */

/* One attention over values q, k and v of the body, each [batch, heads, sequence, depth]. */
struct attention {
  uint64_t heads, kv_heads, rows, keys, past, depth, v_depth, batch;
  double scale, softcap;
  bool causal; /* the last row sees all keys */
  enum { NO_MASK, ADDED_MASK, KEPT_MASK } mask;
  int64_t window; /* keys that a row sees at most; 0: all */
};

/* Without the attribute: 1 / sqrt(depth). */
static double scale_of(const struct onnx_call *call, uint64_t depth) {
  double scale = onnx_real(call, "scale", 0);
  return scale != 0 ? scale : 1 / sqrt((double)depth);
}

/* K or V with a head for each head of Q. */
static void repeat_heads(struct onnx_text *b, const struct attention *a, const char *x,
                         const char *y, uint64_t depth) {
  uint64_t each = a->heads / a->kv_heads;
  if (each == 1) {
    onnx_say(b, "Identity %s = %s;", y, x);
    return;
  }
  onnx_say(b,
           "Constant %s.u = value_ints=2,; Unsqueeze %s.v = %s %s.u;"
           "Constant %s.e = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Expand %s.w = %s.v %s.e;"
           "Constant %s.f = value_ints=0,%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape %s = %s.w %s.f;",
           y, y, x, y, y, a->batch, a->kv_heads, each, a->keys, depth, y, y, y, y, a->heads,
           a->keys, depth, y, y, y);
}

/* Scores, mask, softmax and the product with the values as layers of their own. */
static void attend_apart(struct onnx_text *b, const struct attention *a) {
  repeat_heads(b, a, "k", "kr", a->depth);
  repeat_heads(b, a, "v", "vr", a->v_depth);
  onnx_say(
      b,
      "Transpose kt = kr perm=0,1,3,2; MatMul s0 = q kt; Constant f = value_float=%.12f; CastLike "
      "fl = f s0; Mul s1 = s0 fl;",
      a->scale);
  if (a->softcap != 0)
    onnx_say(
        b,
        "Constant cap = value_float=%.12f; CastLike capl = cap s1; Div c0 = s1 capl; Tanh c1 = c0; "
        "Mul s2 = c1 capl;",
        a->softcap);
  else
    onnx_say(b, "Identity s2 = s1;");
  onnx_say(b, "Constant low = value_float=-10000.0; CastLike lowl = low s2;");
  if (a->mask == ADDED_MASK)
    onnx_say(b, "Add s3 = s2 mask;");
  else if (a->mask == KEPT_MASK)
    onnx_say(b, "Where s3 = mask s2 lowl;");
  else
    onnx_say(b, "Identity s3 = s2;");
  if (a->causal)
    onnx_say(b,
             "Constant one = value_int=1; Constant r0i = value_int=%" PRIu64
             "; Constant r1i = value_int=%" PRIu64 ";"
             "Range row = r0i r1i one; Constant ax = value_ints=1,; Unsqueeze rows = row ax;"
             "Constant c0i = value_int=0; Constant c1i = value_int=%" PRIu64
             "; Range col = c0i c1i one;"
             "GreaterOrEqual seen = rows col; Where s4 = seen s3 lowl;",
             a->keys - a->rows, a->keys, a->keys);
  else
    onnx_say(b, "Identity s4 = s3;");
  onnx_say(b, "Softmax p = s4 axis=-1; MatMul o = p vr;");
}

static void attend(struct onnx_text *b, const struct attention *a) {
  if (a->mask != NO_MASK || a->softcap != 0)
    attend_apart(b, a);
  else
    onnx_say(b, "Attention o = q k v causal_end=%d window=%lld scale=%.12f;", a->causal,
             (long long)a->window, a->scale);
}

/* Attention of rows without a mask: heads stay side by side. */
static bool attend_rows(struct onnx_text *b, const struct attention *a) {
  if (a->mask != NO_MASK || a->past != 0)
    return false;
  onnx_say(b,
           "Attention y = qb kb vb q_num_heads=%" PRIu64 " kv_num_heads=%" PRIu64
           " is_causal=%d scale=%.12f",
           a->heads, a->kv_heads, a->causal, a->scale);
  return true;
}

/* x, [batch, sequence, heads * depth], becomes y, [batch, heads, sequence, depth]. */
static void take_apart(struct onnx_text *b, const char *x, const char *y, uint64_t heads) {
  onnx_say(b,
           "Constant %s.c = value_ints=0,0,%" PRIu64
           ",-1; Reshape %s.r = %s %s.c; Transpose %s = %s.r perm=0,2,1,3;",
           y, heads, y, x, y, y, y);
}

static void put_together(struct onnx_text *b, const struct attention *a) {
  onnx_say(b,
           "Transpose ot = o perm=0,2,1,3; Constant oc = value_ints=0,0,%" PRIu64
           "; Reshape y = ot oc;",
           a->heads * a->v_depth);
}

/* Keys and values behind those of the past, which are also results. */
static void add_past(struct onnx_text *b, bool past) {
  if (past)
    onnx_say(b, "Concat present_k = past_k kn axis=2; Concat present_v = past_v vn axis=2;");
  else
    onnx_say(b, "Identity present_k = kn; Identity present_v = vn;");
  onnx_say(b, "Identity k = present_k; Identity v = present_v;");
}

enum vinci_status onnx_made_attention(struct onnx_call *call, const struct onnx_heads *q,
                                      const struct onnx_heads *k, const struct onnx_heads *v) {
  enum { MASK = 3, PAST = 4 };
  bool past = onnx_given(call, PAST);
  uint64_t before = past ? call->inputs[PAST]->shape[2] : 0;
  struct attention a = {.heads = q->count,
                        .kv_heads = k->count,
                        .rows = q->sequence,
                        .past = before,
                        .keys = before + k->sequence,
                        .depth = q->depth,
                        .v_depth = v->depth,
                        .batch = q->batch,
                        .scale = scale_of(call, q->depth),
                        .softcap = onnx_real(call, "softcap", 0),
                        .causal = onnx_int(call, "is_causal", 0) != 0};
  if (onnx_given(call, MASK))
    a.mask = call->inputs[MASK]->type == ONNX_BOOL ? KEPT_MASK : ADDED_MASK;
  struct onnx_text body = {.used = 0};
  bool rows = call->inputs[0]->rank == 3;
  if (rows) {
    take_apart(&body, "q0", "q", q->count);
    take_apart(&body, "k0", "kn", k->count);
    take_apart(&body, "v0", "vn", v->count);
  } else {
    onnx_say(&body, "Identity q = q0; Identity kn = k0; Identity vn = v0;");
  }
  add_past(&body, past);
  attend(&body, &a);
  if (rows)
    put_together(&body, &a);
  else
    onnx_say(&body, "Identity y = o;");
  return onnx_call_text(call, "q0 k0 v0 mask past_k past_v", "y present_k present_v", &body);
}

/* ---- GroupQueryAttention ------------------------------------------------------------------------
 */

enum {
  GQA_Q,
  GQA_K,
  GQA_V,
  GQA_PAST_K,
  GQA_PAST_V,
  GQA_LENGTHS,
  GQA_TOTAL,
  GQA_COS,
  GQA_SIN,
  GQA_OTHERS,
  GQA_LAST = 15
};

/* What of the operator this reader has not; NULL: nothing. */
static const char *group_query_lacks(const struct onnx_call *call) {
  if (onnx_given(call, GQA_PAST_K) != onnx_given(call, GQA_PAST_V) ||
      (onnx_given(call, GQA_PAST_K) && call->inputs[GQA_PAST_K]->rank != 4))
    return "keys of the past that are not apart by heads";
  if (given_between(call, GQA_OTHERS, GQA_LAST))
    return "positions, biases or sinks that are inputs";
  if (onnx_real(call, "softcap", 0) != 0 && onnx_int(call, "local_window_size", -1) > 0)
    return "softcap with a window";
  if (onnx_int(call, "smooth_softmax", 0) > 0)
    return "smooth_softmax";
  if (onnx_int(call, "k_quant_type", 0) != 0 || onnx_text(call, "k_quant_type", "NONE")[0] != 'N')
    return "a cache of fewer bits";
  return NULL;
}

/* Positions of the rows: the last is that of the length, the others come before. */
static void positions(struct onnx_text *b, uint64_t rows) {
  onnx_say(
      b,
      "Cast len = lengths to=6; Constant cl = value_ints=-1,1; Reshape last = len cl;"
      "Constant from = value_int=%lld; Constant by = value_int=1; Range back = from by by; Add at "
      "= last back;"
      "Gather cos.g = cosines at axis=0; Gather sin.g = sines at axis=0;"
      "Constant heads = value_ints=2,; Unsqueeze cos = cos.g heads; Unsqueeze sin = sin.g heads;",
      1 - (long long)rows);
}

enum vinci_status onnx_made_group_query(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[GQA_Q];
  uint64_t heads = heads_of(call, "num_heads"), kv = heads_of(call, "kv_num_heads");
  bool packed = !onnx_given(call, GQA_K), past = onnx_given(call, GQA_PAST_K);
  bool turned = onnx_int(call, "do_rotary", 0) != 0;
  const char *lacks = group_query_lacks(call);
  if (!lacks && turned &&
      (!onnx_given(call, GQA_LENGTHS) || !onnx_given(call, GQA_COS) ||
       call->inputs[GQA_COS]->rank != 2))
    lacks = "do_rotary without lengths, or without cosines by position";
  *known = !lacks;
  if (lacks) {
    onnx_arg_text(call, "lacks", lacks);
    return VINCI_OK;
  }
  uint64_t all = heads + (packed ? 2 * kv : 0);
  if (heads == 0 || kv == 0 || heads % kv != 0 || x->rank != 3 || x->shape[2] % all != 0)
    return onnx_fail(call, "queries %s of %" PRIu64 " heads, %" PRIu64 " of keys",
                     onnx_shape_text(x).text, heads, kv);
  uint64_t depth = x->shape[2] / all;
  uint64_t before = past ? call->inputs[GQA_PAST_K]->shape[2] : 0;
  int64_t window = onnx_int(call, "local_window_size", -1); /* without the query's own key */
  struct attention a = {.heads = heads,
                        .kv_heads = kv,
                        .rows = x->shape[1],
                        .past = before,
                        .keys = before + x->shape[1],
                        .depth = depth,
                        .v_depth = depth,
                        .batch = x->shape[0],
                        .scale = scale_of(call, depth),
                        .causal = true,
                        .softcap = onnx_real(call, "softcap", 0),
                        .window = window > 0 ? window + 1 : 0};
  struct onnx_text body = {.used = 0};
  if (packed)
    onnx_say(&body,
             "Constant parts = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64
             "; Split qi ki vi = q0 parts axis=2;",
             (uint64_t)heads * depth, (uint64_t)kv * depth, (uint64_t)kv * depth);
  else
    onnx_say(&body, "Identity qi = q0; Identity ki = k0; Identity vi = v0;");
  onnx_say(&body,
           "Constant qc = value_ints=0,0,%" PRIu64 ",%" PRIu64 "; Reshape q4 = qi qc;"
           "Constant kc = value_ints=0,0,%" PRIu64 ",%" PRIu64
           "; Reshape k4 = ki kc; Reshape v4 = vi kc;",
           heads, depth, kv, depth);
  if (turned) {
    uint64_t part = 2 * call->inputs[GQA_COS]->shape[call->inputs[GQA_COS]->rank - 1];
    if (part < 2 || part > depth)
      return onnx_fail(call, "cosines %s for heads of %" PRIu64 " elements",
                       onnx_shape_text(call->inputs[GQA_COS]).text, depth);
    bool neighbours = onnx_int(call, "rotary_interleaved", 0) != 0;
    positions(&body, a.rows);
    onnx_rotate(&body, "q4", "qt", depth, part, neighbours);
    onnx_rotate(&body, "k4", "kt4", depth, part, neighbours);
  } else {
    onnx_say(&body, "Identity qt = q4; Identity kt4 = k4;");
  }
  onnx_say(&body,
           "Transpose q = qt perm=0,2,1,3; Transpose kn = kt4 perm=0,2,1,3; Transpose vn = v4 "
           "perm=0,2,1,3;");
  add_past(&body, past);
  attend(&body, &a);
  put_together(&body, &a);
  return onnx_call_text(call, "q0 k0 v0 past_k past_v lengths total cosines sines",
                        "y present_k present_v", &body);
}

/* ---- MultiHeadAttention, Attention of ONNX Runtime ----------------------------------------------
 */

/* A mask of keys that are there, [batch, keys], or what is added to the scores. False: both, or
 * another form. */
static bool take_mask(struct onnx_text *b, const struct onnx_call *call, uint32_t padding,
                      uint32_t added, struct attention *a) {
  if (onnx_given(call, padding)) {
    if (call->inputs[padding]->rank != 2 || onnx_given(call, added))
      return false;
    onnx_say(
        b, "Cast kept = padding to=9; Constant ones = value_ints=1,2; Unsqueeze mask = kept ones;");
    a->mask = KEPT_MASK;
  } else if (onnx_given(call, added)) {
    onnx_say(b, "Identity mask = added;");
    a->mask = ADDED_MASK;
  }
  return true;
}

/* Rows plus their part of the bias, which is that of queries, keys and values one after the other.
 */
static void add_bias(struct onnx_text *b, bool given, uint64_t q, uint64_t k, uint64_t v) {
  if (given)
    onnx_say(b,
             "Constant parts = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64
             "; Split bq bk bv = bias parts axis=0;"
             "Add qb = q0 bq; Add kb = k0 bk; Add vb = v0 bv;",
             q, k, v);
  else
    onnx_say(b, "Identity qb = q0; Identity kb = k0; Identity vb = v0;");
}

enum vinci_status onnx_made_multi_head(struct onnx_call *call, bool *known) {
  enum { Q, K, V, BIAS, PADDING, ADDED, PAST, LAST = 9 };
  const struct onnx_value *q = call->inputs[Q], *k = call->inputs[K], *v = call->inputs[V];
  uint64_t count = heads_of(call, "num_heads");
  bool past = onnx_given(call, PAST), apart = k->rank == 4 && v->rank == 4;
  *known = q->rank == 3 && (apart || (k->rank == 3 && v->rank == 3)) &&
           onnx_given(call, PAST + 1) == past && (!past || call->inputs[PAST]->rank == 4) &&
           !given_between(call, PAST + 2, LAST) && !(apart && onnx_given(call, BIAS)) &&
           call->output_count <= 3;
  if (!*known)
    return VINCI_OK;
  if (count == 0 || q->shape[2] % count != 0 || (!apart && v->shape[2] % count != 0))
    return onnx_fail(call, "queries %s, values %s of %" PRIu64 " heads", onnx_shape_text(q).text,
                     onnx_shape_text(v).text, count);
  uint64_t before = past ? call->inputs[PAST]->shape[2] : 0;
  struct attention a = {.heads = count,
                        .kv_heads = count,
                        .rows = q->shape[1],
                        .past = before,
                        .keys = before + k->shape[apart ? 2 : 1],
                        .depth = q->shape[2] / count,
                        .v_depth = apart ? v->shape[3] : v->shape[2] / count,
                        .batch = q->shape[0],
                        .scale = scale_of(call, q->shape[2] / count),
                        .causal = onnx_int(call, "unidirectional", 0) != 0};
  struct onnx_text body = {.used = 0};
  *known = take_mask(&body, call, PADDING, ADDED, &a);
  add_bias(&body, onnx_given(call, BIAS), q->shape[2], q->shape[2], v->shape[v->rank - 1]);
  if (*known && !apart && !past && call->output_count == 1 && attend_rows(&body, &a))
    return onnx_call_text(call, "q0 k0 v0 bias", "y", &body);
  take_apart(&body, "qb", "q", count);
  if (apart) {
    onnx_say(&body, "Identity kn = kb; Identity vn = vb;");
  } else {
    take_apart(&body, "kb", "kn", count);
    take_apart(&body, "vb", "vn", count);
  }
  add_past(&body, past);
  attend(&body, &a);
  put_together(&body, &a);
  return *known ? onnx_call_text(call, "q0 k0 v0 bias padding added past_k past_v",
                                 "y present_k present_v", &body)
                : VINCI_OK;
}

/* The weights of queries, keys and values are columns of one matrix. */
enum vinci_status onnx_made_packed_attention(struct onnx_call *call, bool *known) {
  enum { X, WEIGHTS, BIAS, PADDING, PAST, ADDED, LAST = 6 };
  const struct onnx_value *x = call->inputs[X], *w = call->inputs[WEIGHTS];
  struct onnx_ints sizes;
  uint64_t count = heads_of(call, "num_heads");
  enum vinci_status status = onnx_ints(call, "qkv_hidden_sizes", &sizes);
  *known = status == VINCI_OK && x->rank == 3 && w->rank == 2 && sizes.count == 0 &&
           !onnx_given(call, PAST) && !onnx_given(call, LAST) &&
           onnx_int(call, "do_rotary", 0) == 0 && call->output_count == 1;
  if (!*known)
    return status;
  uint64_t hidden = w->shape[1] / 3;
  if (count == 0 || w->shape[1] % (3 * count) != 0)
    return onnx_fail(call, "weights %s of %" PRIu64 " heads", onnx_shape_text(w).text, count);
  struct attention a = {.heads = count,
                        .kv_heads = count,
                        .rows = x->shape[1],
                        .keys = x->shape[1],
                        .depth = hidden / count,
                        .v_depth = hidden / count,
                        .batch = x->shape[0],
                        .scale = scale_of(call, hidden / count),
                        .causal = onnx_int(call, "unidirectional", 0) != 0};
  struct onnx_text body = {.used = 0};
  *known = take_mask(&body, call, PADDING, ADDED, &a);
  onnx_say(&body, "MatMul all = x w;");
  onnx_say(&body, onnx_given(call, BIAS) ? "Add rows = all bias;" : "Identity rows = all;");
  onnx_say(&body,
           "Constant parts = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Split qb kb vb = rows parts axis=2;",
           hidden, hidden, hidden);
  if (*known && attend_rows(&body, &a))
    return onnx_call_text(call, "x w bias", "y", &body);
  take_apart(&body, "qb", "q", count);
  take_apart(&body, "kb", "k", count);
  take_apart(&body, "vb", "v", count);
  attend(&body, &a);
  put_together(&body, &a);
  return *known ? onnx_call_text(call, "x w bias padding past added", "y", &body) : VINCI_OK;
}
