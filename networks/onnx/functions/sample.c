/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that sample images between their elements: Resize of what no kernel does, GridSample.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/base/arith.h"
#include "networks/onnx/functions/contrib.h"

/* ---- Resize ---------------------------------------------------------------------------------- */

enum { PLACES_MAX = 1 << 20 }; /* that are looked at singly */

struct resize {
  const char *mode, *coordinates, *nearest;
  bool exclude_outside;
  double cubic;
};

/* The place in the input of an element of the result. */
static double place_of(const struct resize *how, uint64_t i, uint64_t from, uint64_t to,
                       double scale) {
  double at = (double)i;
  if (strcmp(how->coordinates, "align_corners") == 0)
    return i > 0 ? at * (double)(from - 1) / ((double)from * scale - 1) : 0;
  if (strcmp(how->coordinates, "asymmetric") == 0)
    return at / scale;
  if (strcmp(how->coordinates, "pytorch_half_pixel") == 0 && to <= 1)
    return 0;
  if (strcmp(how->coordinates, "tf_half_pixel_for_nn") == 0)
    return (at + 0.5) / scale;
  if (strcmp(how->coordinates, "half_pixel_symmetric") == 0) /* what is cut off, on both sides */
    return ((double)from - (double)to / scale) / 2 + (at + 0.5) / scale - 0.5;
  return (at + 0.5) / scale - 0.5;
}

static int64_t nearest_of(const struct resize *how, double place) {
  if (strcmp(how->nearest, "floor") == 0)
    return (int64_t)floor(place);
  if (strcmp(how->nearest, "ceil") == 0)
    return (int64_t)ceil(place);
  if (strcmp(how->nearest, "round_prefer_ceil") == 0)
    return (int64_t)floor(place + 0.5);
  return (int64_t)ceil(place - 0.5);
}

static int64_t inside(int64_t place, uint64_t extent) {
  return place < 0 ? 0 : place >= (int64_t)extent ? (int64_t)extent - 1 : place;
}

/* The share of an element at that distance: Keys' cubic with parameter a, or a triangle. */
static double share_at(const struct resize *how, double distance) {
  double d = fabs(distance), a = how->cubic;
  if (strcmp(how->mode, "linear") == 0)
    return d < 1 ? 1 - d : 0;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* weights[to][from], or [from][to]: shares of the elements around, those outside of the outermost.
 */
static void fill_weights(const struct resize *how, float *weights, uint64_t from, uint64_t to,
                         double scale, bool turned) {
  enum { REACH = 2 };
  for (uint64_t i = 0; i < to; i++) {
    double place = place_of(how, i, from, to, scale), sum = 0;
    int64_t first = (int64_t)floor(place) - REACH + 1;
    for (int64_t k = first; k < first + 2 * REACH; k++)
      if (!how->exclude_outside || (k >= 0 && k < (int64_t)from))
        sum += share_at(how, place - (double)k);
    for (int64_t k = first; k < first + 2 * REACH; k++) {
      uint64_t at = (uint64_t)inside(k, from);
      float *weight = &weights[turned ? at * to + i : i * from + at];
      if (!how->exclude_outside || (k >= 0 && k < (int64_t)from))
        *weight += (float)(share_at(how, place - (double)k) / sum);
    }
  }
}

/* Whether the layer has it: maps whose elements are those before (nearest), or linear by the
 * quotient of extents. */
static bool is_of_kernel(const struct resize *how, const struct onnx_value *x,
                         const struct onnx_value *y, const double *scales) {
  bool nearest = strcmp(how->mode, "nearest") == 0;
  if (x->rank != 4)
    return false;
  if (max_u64(y->shape[2], y->shape[3]) > PLACES_MAX)
    return true; /* the layer looks at the quotients alone */
  for (unsigned d = 2; d < 4; d++) {
    double quotient = (double)y->shape[d] / (double)x->shape[d];
    for (uint64_t i = 0; nearest && i < y->shape[d]; i++)
      if (inside(nearest_of(how, place_of(how, i, x->shape[d], y->shape[d], scales[d])),
                 x->shape[d]) != (int64_t)(i * x->shape[d] / y->shape[d]))
        return false;
    if (fabs(scales[d] - quotient) > 1e-6 * quotient ||
        (y->shape[d] == 1 && x->shape[d] > 1 &&
         strcmp(how->coordinates, "pytorch_half_pixel") == 0))
      return false;
  }
  return nearest || (strcmp(how->mode, "linear") == 0 && strncmp(how->coordinates, "tf_", 3) != 0);
}

/* The elements before, asked for by other words: those that the layer takes. */
static enum vinci_status point_before(struct onnx_call *call, const struct resize *how,
                                      const double *scales, bool *known) {
  const struct onnx_value *x = call->inputs[0];
  struct onnx_text body = {.used = 0};
  *known = strcmp(how->mode, "nearest") == 0 &&
           (strcmp(how->coordinates, "asymmetric") != 0 || strcmp(how->nearest, "floor") != 0);
  float *list = *known ? onnx_say_reals(call, &body, x->rank) : NULL;
  if (!*known)
    return VINCI_OK;
  if (!list)
    return onnx_no_memory(call->import);
  for (unsigned d = 0; d < x->rank; d++)
    list[d] = (float)scales[d];
  onnx_say(&body, "Constant q = value_floats=$0; Resize y = x - q mode=nearest "
                  "coordinate_transformation_mode=asymmetric nearest_mode=floor");
  return onnx_call_text(call, "x", "y", &body);
}

/* The scales that the rule has put; false: not one for each dimension. */
static bool take_scales(const struct onnx_call *call, double *scales) {
  const char *at = onnx_put_text(call, "scales");
  unsigned count = 0;
  while (at && count < GRAPH_RANK_MAX && graph_arg_piece(&at, &scales[count]))
    count++;
  return count == call->inputs[0]->rank;
}

/* One dimension: rows by index, or a matrix of weights; the last two can be multiplied. */
static enum vinci_status say_resized(struct onnx_call *call, struct onnx_text *b,
                                     const struct resize *how, unsigned d, double scale,
                                     const char *from, const char *to) {
  const struct onnx_value *x = call->inputs[0];
  uint64_t old = x->shape[d], new = call->outputs[0]->shape[d];
  bool last = d + 1 == x->rank;
  if (strcmp(how->mode, "nearest") == 0) {
    int64_t *places = onnx_say_list(call, b, new);
    if (!places)
      return onnx_no_memory(call->import);
    for (uint64_t i = 0; i < new; i++)
      places[i] = inside(nearest_of(how, place_of(how, i, old, new, scale)), old);
    onnx_say(b, "Constant i%u = value_ints=$%u; Gather %s = %s i%u axis=%u;", d, b->list_count - 1,
             to, from, d, d);
    return VINCI_OK;
  }
  float *weights = onnx_say_reals(call, b, old * new);
  if (!weights)
    return onnx_no_memory(call->import);
  fill_weights(how, weights, old, new, scale, last);
  onnx_say(
      b,
      "Constant c%u = value_floats=$%u; CastLike l%u = c%u x; Constant h%u = value_ints=%" PRIu64
      ",%" PRIu64 "; Reshape w%u = l%u h%u;",
      d, b->list_count - 1, d, d, d, last ? old : new, last ? new : old, d, d, d);
  if (last)
    onnx_say(b, "MatMul %s = %s w%u;", to, from, d);
  else
    onnx_say(b, "MatMul %s = w%u %s;", to, d, from);
  return VINCI_OK;
}

enum vinci_status onnx_made_resize(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *y = call->outputs[0];
  struct resize how = {.mode = onnx_put_text(call, "mode"),
                       .coordinates = onnx_put_text(call, "coordinates"),
                       .nearest = onnx_put_text(call, "nearest"),
                       .exclude_outside = onnx_int(call, "exclude_outside", 0) != 0,
                       .cubic = onnx_real(call, "cubic_coeff_a", -0.75)};
  double scales[GRAPH_RANK_MAX];
  struct onnx_text body = {.used = 0};
  char from[16] = "x", to[16];
  *known = how.mode && how.coordinates && how.nearest && take_scales(call, scales) &&
           strcmp(how.coordinates, "tf_crop_and_resize") != 0 && onnx_type_is_float(x->type) &&
           onnx_int(call, "antialias", 0) == 0;
  if (*known && is_of_kernel(&how, x, y, scales))
    return point_before(call, &how, scales, known);
  for (unsigned d = 0; d < x->rank && *known; d++) {
    bool same = x->shape[d] == y->shape[d] && scales[d] == 1;
    *known =
        same || (d + 2 >= x->rank && x->shape[d] > 0 && y->shape[d] <= ONNX_FOLD_MAX / x->shape[d]);
  }
  if (!*known)
    return VINCI_OK;
  for (unsigned d = 0; d < x->rank; d++) {
    if (x->shape[d] == y->shape[d] && scales[d] == 1)
      continue;
    snprintf(to, sizeof to, "v%u", d);
    enum vinci_status status = say_resized(call, &body, &how, d, scales[d], from, to);
    if (status != VINCI_OK)
      return status;
    memcpy(from, to, sizeof from);
  }
  onnx_say(&body, "Identity y = %s", from);
  return onnx_call_text(call, "x", "y", &body);
}

#define FP32 "keep_fp32=1"

/* ---- GridSample ------------------------------------------------------------------------------ */

enum padding { PADDING_ZEROS, PADDING_BORDER, PADDING_REFLECTION };

/* How many elements along an axis have a share in a point. */
enum taps { TAPS_NEAREST = 1, TAPS_LINEAR = 2, TAPS_CUBIC = 4 };

struct sampling {
  bool corners; /* -1 and 1 are the middles of the outermost elements, and not their outer edges */
  enum padding padding;
  enum taps taps;
};

/* The place "a.p" of an axis as "a.d", mirrored at the ends of the image until it lies between
 * these: at -1/2 and half an element behind the last one, with corners at the middles of the first
 * and of the last element. With s between the ends, and the first at e: e + s - |r - s|, where r is
 * what |a.p - e| leaves of 2 s. */
static void say_mirror(struct onnx_text *b, const char *a, uint64_t extent, bool corners) {
  double first = corners ? 0 : -0.5, span = corners ? (double)(extent - 1) : (double)extent;
  onnx_say(b,
           "Constant %s.f = value_float=%.9e; Constant %s.v = value_float=%.9e;"
           "Constant %s.y = value_float=%.9e; Constant %s.x = value_float=%.9e;"
           "Constant %s.n = value_float=%.9e; Sub %s.m1 = %s.p %s.f " FP32
           "; Abs %s.m2 = %s.m1 " FP32 "; Mul %s.m3 = %s.m2 %s.v " FP32
           "; Floor %s.m4 = %s.m3 " FP32 "; Mul %s.m5 = %s.m4 %s.y " FP32
           "; Sub %s.m6 = %s.m2 %s.m5 " FP32 "; Sub %s.m7 = %s.m6 %s.x " FP32
           "; Abs %s.m8 = %s.m7 " FP32 "; Sub %s.d = %s.n %s.m8 " FP32 ";",
           a, first, a, 1 / (2 * span), a, 2 * span, a, span, a, first + span, a, a, a, a, a, a, a,
           a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a);
}

/* Appends the nodes, with the name in place of each "@". */
static void say_of(struct onnx_text *b, const char *name, const char *nodes) {
  for (const char *at = nodes; *at; at++)
    if (*at == '@')
      onnx_say(b, "%s", name);
    else
      onnx_say(b, "%c", *at);
}

/* The places of the outermost elements are limits: "a" of "a.p" or, mirrored, of "a.d". */
static void say_limited(struct onnx_text *b, const char *a, bool mirror) {
  say_of(b, a, mirror ? "Max @.c = @.d @.z " FP32 ";" : "Max @.c = @.p @.z " FP32 ";");
  say_of(b, a, "Min @ = @.c @.e " FP32 ";");
}

/* What is far away has no share. */
static void say_near(struct onnx_text *b, const char *a, uint64_t extent) {
  onnx_say(b, "Constant %s.l = value_float=-2.0; Constant %s.h = value_float=%.9e;", a, a,
           (double)extent + 1);
  say_of(b, a, "Max @.c = @.p @.l " FP32 "; Min @ = @.c @.h " FP32 ";");
}

/* Places outside of the image become those of its outermost elements, and those beside these stay:
 * a cubic reaches further than the elements beside a place. The image ends half an element behind
 * the outermost ones, as in ONNX's own evaluation of the operator. */
static void say_cubic_limited(struct onnx_text *b, const char *a, uint64_t extent) {
  onnx_say(b, "Constant %s.l = value_float=-0.5; Constant %s.h = value_float=%.9e;", a, a,
           (double)extent - 0.5);
  say_of(b, a,
         "Max @.c = @.p @.z " FP32 "; Min @.b = @.c @.e " FP32 "; Max @.j = @.p @.l " FP32
         "; Min @.i = @.j @.h " FP32 "; Equal @.q = @.p @.i " FP32 "; Cast @.t = @.q to=1 " FP32
         "; Sub @.r = @.p @.b " FP32 "; Mul @.w = @.r @.t " FP32 "; Add @ = @.b @.w " FP32 ";");
}

static bool mirrors(uint64_t extent, const struct sampling *how) {
  return how->padding == PADDING_REFLECTION && (extent > 1 || !how->corners);
}

static void say_place(struct onnx_text *b, const char *a, uint64_t extent,
                      const struct sampling *how) {
  bool mirror = mirrors(extent, how), cubic = how->taps == TAPS_CUBIC;
  if (mirror)
    say_mirror(b, a, extent, how->corners);
  if (how->padding == PADDING_ZEROS)
    say_near(b, a, extent);
  else if (cubic && mirror)
    say_of(b, a, "Identity @ = @.d;");
  else if (cubic && !how->corners)
    say_cubic_limited(b, a, extent);
  else
    say_limited(b, a, mirror);
}

/* The element "n" of an axis with its share "n.r": its number within the image, n.i, and its share
 * there, n.w. */
static void say_tap(struct onnx_text *b, const char *n, const char *a, uint64_t extent,
                    const struct sampling *how) {
  bool cubic = how->taps == TAPS_CUBIC, mirror = cubic && mirrors(extent, how);
  if (mirror) {
    say_of(b, n, "Identity @.p = @;");
    say_mirror(b, n, extent, how->corners);
  }
  onnx_say(b, "Max %s.m = %s%s %s.z " FP32 "; Min %s.c = %s.m %s.e " FP32 ";", n, n,
           mirror ? ".d" : "", a, n, n, a);
  if (cubic && how->padding != PADDING_ZEROS)
    say_of(b, n, "Identity @.w = @.r;");
  else
    say_of(b, n,
           "Equal @.q = @ @.c " FP32 "; Cast @.t = @.q to=1 " FP32 "; Mul @.w = @.r @.t " FP32 ";");
  say_of(b, n, "Cast @.i = @.c to=6 " FP32 ";");
}

/* Four elements around the place "a", and their shares: Keys' cubic with the parameter of ONNX, as
 * polynomials of the distance to the second one, by powers. */
static void say_cubic(struct onnx_text *b, const char *a) {
  enum { POWERS = 4 };
  static const double k = -0.75;
  const double shares[TAPS_CUBIC][POWERS] = {
      {0, k, -2 * k, k}, {1, 0, -k - 3, k + 2}, {0, -k, 2 * k + 3, -k - 2}, {0, 0, k, -k}};
  say_of(b, a, "Floor @.below = @ " FP32 "; Sub @.part = @ @.below " FP32 ";");
  for (unsigned i = 0; i < TAPS_CUBIC; i++) {
    onnx_say(b,
             "Constant %s%u.o = value_float=%.1f; Add %s%u = %s.below %s%u.o " FP32
             "; Constant %s%u.s3 = value_float=%.3f;",
             a, i, (double)i - 1, a, i, a, a, i, a, i, shares[i][POWERS - 1]);
    for (unsigned power = POWERS - 1; power-- > 0;)
      onnx_say(b,
               "Mul %s%u.v%u = %s%u.s%u %s.part " FP32 "; Constant %s%u.k%u = value_float=%.3f;"
               "Add %s%u.s%u = %s%u.v%u %s%u.k%u " FP32 ";",
               a, i, power, a, i, power + 1, a, a, i, power, shares[i][power], a, i, power, a, i,
               power, a, i, power);
    onnx_say(b, "Identity %s%u.r = %s%u.s0;", a, i, a, i);
  }
}

/* Points of the grid along one axis, -1 .. 1, as places in the image: "a" or "b", its neighbours
 * a0, a1 .., their numbers within the image, a0.i, a1.i .., and their shares a0.w, a1.w ... Places
 * are fp32: with 11 digits those behind 128 would be as coarse as an eighth of an element. */
static void say_axis(struct onnx_text *b, const char *a, unsigned column, uint64_t extent,
                     const struct sampling *how) {
  double half = how->corners ? (double)(extent - 1) / 2 : (double)extent / 2;
  onnx_say(b,
           "Constant %s.k = value_int=%u; Gather %s.g = grid.f %s.k axis=3 " FP32 ";"
           "Constant %s.s = value_float=%.9e; Mul %s.m = %s.g %s.s " FP32 ";"
           "Constant %s.o = value_float=%.9e; Add %s.p = %s.m %s.o " FP32 ";"
           "Constant %s.z = value_float=0.0; Constant %s.e = value_float=%.9e;"
           "Constant %s.u = value_float=1.0;",
           a, column, a, a, a, half, a, a, a, a, (double)(extent - 1) / 2, a, a, a, a, a,
           (double)(extent - 1), a);
  say_place(b, a, extent, how);
  if (how->taps == TAPS_NEAREST)
    say_of(b, a, "Round @0 = @ " FP32 "; Identity @0.r = @.u;");
  else if (how->taps == TAPS_LINEAR)
    say_of(b, a,
           "Floor @0 = @ " FP32 "; Sub @1.r = @ @0 " FP32 "; Sub @0.r = @.u @1.r " FP32
           "; Add @1 = @0 @.u " FP32 ";");
  else
    say_cubic(b, a);
  for (unsigned i = 0; i < how->taps; i++) {
    char tap[16];
    snprintf(tap, sizeof tap, "%s%u", a, i);
    say_tap(b, tap, a, extent, how);
  }
}

/* One of the elements around all points, with its share: "n" and its number. */
static void say_corner(struct onnx_text *b, unsigned n, unsigned row, unsigned column) {
  onnx_say(
      b,
      "Mul l%u = b%u.i width; Add m%u = l%u a%u.i; Add i%u = m%u first; Reshape f%u = i%u flat;"
      "Gather g%u = table f%u axis=0; Mul s%u = b%u.w a%u.w " FP32 "; Reshape c%u = s%u column;"
      "CastLike t%u = c%u x; Mul n%u = g%u t%u;",
      n, row, n, n, column, n, n, n, n, n, n, n, row, column, n, n, n, n, n, n, n);
}

/* "sum" of n0, n1 .., pair by pair. */
static void say_sum(struct onnx_text *b, unsigned count) {
  unsigned next = count;
  for (unsigned i = 0; i + 1 < next; i += 2, next++)
    onnx_say(b, "Add n%u = n%u n%u;", next, i, i + 1);
  onnx_say(b, "Identity sum = n%u;", next - 1);
}

static bool take_sampling(const struct onnx_call *call, struct sampling *out) {
  static const char *const paddings[] = {
      [PADDING_ZEROS] = "zeros", [PADDING_BORDER] = "border", [PADDING_REFLECTION] = "reflection"};
  const char *mode = onnx_text(call, "mode", "bilinear");
  const char *padding = onnx_text(call, "padding_mode", paddings[PADDING_ZEROS]);
  bool linear = strcmp(mode, "bilinear") == 0 || strcmp(mode, "linear") == 0;
  bool nearest = strcmp(mode, "nearest") == 0;
  *out = (struct sampling){.corners = onnx_int(call, "align_corners", 0) != 0,
                           .taps = nearest  ? TAPS_NEAREST
                                   : linear ? TAPS_LINEAR
                                            : TAPS_CUBIC};
  while (out->padding < PADDING_REFLECTION && strcmp(padding, paddings[out->padding]) != 0)
    out->padding++;
  return (nearest || linear || strcmp(mode, "bicubic") == 0 || strcmp(mode, "cubic") == 0) &&
         strcmp(padding, paddings[out->padding]) == 0;
}

enum vinci_status onnx_made_grid_sample(struct onnx_call *call, bool *known) {
  const struct onnx_value *x = call->inputs[0], *y = call->outputs[0];
  struct sampling how;
  struct onnx_text body = {.used = 0};
  *known = x->rank == 4 && take_sampling(call, &how) && onnx_type_is_float(x->type) &&
           x->shape[0] <= ONNX_FOLD_MAX && onnx_elements(x) > 0 &&
           onnx_elements(x) / x->shape[1] <= INT32_MAX;
  if (!*known)
    return VINCI_OK;
  uint64_t n = x->shape[0], c = x->shape[1], h = x->shape[2], w = x->shape[3];
  uint64_t points = n * y->shape[2] * y->shape[3];
  int64_t *first = onnx_say_list(call, &body, n);
  if (!first)
    return onnx_no_memory(call->import);
  for (uint64_t i = 0; i < n; i++)
    first[i] = (int64_t)(i * h * w);
  onnx_say(&body, "Cast grid.f = grid to=1 " FP32 ";");
  say_axis(&body, "a", 0, w, &how);
  say_axis(&body, "b", 1, h, &how);
  onnx_say(&body,
           "Constant width.k = value_int=%" PRIu64 "; Cast width = width.k to=6;"
           "Constant first.k = value_ints=$0; Cast first.c = first.k to=6; Constant first.s = "
           "value_ints=%" PRIu64 ",1,1; Reshape first = first.c first.s;"
           "Constant flat = value_ints=%" PRIu64 ",; Constant column = value_ints=%" PRIu64
           ",1; Transpose last = x perm=0,2,3,1; Constant rows = value_ints=%" PRIu64 ",%" PRIu64
           "; Reshape table = last rows;",
           w, n, points, points, n * h * w, c);
  unsigned corners = how.taps * how.taps;
  for (unsigned i = 0; i < corners; i++)
    say_corner(&body, i, i / how.taps, i % how.taps);
  say_sum(&body, corners);
  onnx_say(&body,
           "Constant map = value_ints=%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
           "; Reshape maps = sum map; Transpose y = maps perm=0,3,1,2",
           n, y->shape[2], y->shape[3], c);
  return onnx_call_text(call, "x grid", "y", &body);
}
