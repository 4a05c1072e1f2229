/* SPDX-License-Identifier: Apache-2.0 */
/* Which type of the vendor's library a name of a profile or of a framework stands for. */
#include <string.h>
#include <strings.h>

#include "lower/calls/calls.h"

static const struct framework_name {
  const char *name, *type, *order;
} framework_names[] = {
#define FRAMEWORK_NAME(name, type, order) {name, type, order},
#include "lower/calls/frameworks.def"
#undef FRAMEWORK_NAME
};

/* The next letter that counts, in lower case; 0 at the end. */
static char next_letter(const char **text) {
  while (**text == '_')
    ++*text;
  if (**text == '\0')
    return '\0';
  char c = *(*text)++;
  return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool same_letters(const char *a, const char *b) {
  for (;;) {
    char left = next_letter(&a), right = next_letter(&b);
    if (left != right)
      return false;
    if (left == '\0')
      return true;
  }
}

/* "ReduceSum@AIV" is the part on AIV. Names of calls stand for the kernel they end in, as in
 * "aclnnInplaceMul_MulAiCore_Mul", or are that with a prefix, "aclnnInplaceMul". */
static const char *without_call(const char *name) {
  static const char call[] = "aclnn", in_place[] = "Inplace";
  const char *last = strrchr(name, '_');
  if (strncmp(name, call, sizeof call - 1) != 0)
    return name;
  if (last)
    return last + 1;
  name += sizeof call - 1;
  return strncmp(name, in_place, sizeof in_place - 1) == 0 ? name + sizeof in_place - 1 : name;
}

static const char *without_framework(const char *name) {
  static const char device[] = "npu_";
  const char *colons = strrchr(name, ':');
  name = colons ? colons + 1 : name;
  return strncmp(name, device, sizeof device - 1) == 0 ? name + sizeof device - 1 : name;
}

/* Puts the vendor's spelling into call->type. */
static bool spell(struct lower_call *call, const char *name) {
  char word[WORD_BYTES_MAX];
  for (size_t i = 0; i < lower_op_count(); i++)
    for (unsigned j = 0; words_nth(lower_op(i)->vendor_types, j, word); j++)
      if (same_letters(word, name)) {
        snprintf(call->type, sizeof call->type, "%s", word);
        return true;
      }
  return false;
}

/* Kernels of people often bear the name of the vendor's operator and then how they were written:
 * "mul_ascendc", "ConcatV2_custom", "add_kernel_triton". Other endings may be other operators. */
static bool cut_writer(char *name) {
  static const char *const writers[] = {"ascendc", "custom", "kernel", "tilelang", "triton"};
  char *last = strrchr(name, '_');
  for (size_t i = 0; last && last > name && i < sizeof writers / sizeof *writers; i++)
    if (strcasecmp(last + 1, writers[i]) == 0) {
      *last = '\0';
      return true;
    }
  return false;
}

/* "AddAiCore" is the kernel of Add on AI Cores; what precedes the ending becomes the type. */
static bool is_variant(struct lower_call *call) {
  static const char ending[] = "aicore";
  size_t length = strlen(call->type), tail = sizeof ending - 1;
  if (length <= tail || strcasecmp(call->type + length - tail, ending) != 0)
    return false;
  char *end = call->type + length - tail, kept = *end;
  *end = '\0';
  if (lower_find_vendor(call->type))
    return true;
  *end = kept;
  return false;
}

bool calls_take_name(const char *name, struct lower_call *call, const char **order) {
  *order = "";
  name = without_call(name);
  snprintf(call->type, sizeof call->type, "%.*s", (int)strcspn(name, "@"), name);
  if (lower_find_vendor(call->type))
    return true;
  char given[sizeof call->type];
  memcpy(given, call->type, sizeof given);
  if (is_variant(call))
    return true;
  for (size_t i = 0; i < sizeof framework_names / sizeof *framework_names; i++) {
    const struct framework_name *known = &framework_names[i];
    if (!same_letters(known->name, given))
      continue;
    if (!known->type)
      return lower_cannot(call, "a view of its tensor, for which no kernel runs");
    snprintf(call->type, sizeof call->type, "%s", known->type);
    *order = known->order;
    return true;
  }
  bool known = spell(call, without_framework(given));
  while (!known && cut_writer(given))
    known = spell(call, given);
  return true;
}

/* Fusions by what their names begin with; of several the longest, which comes first. */
static const struct {
  const char *begin, *op;
} fusions[] = {
    {"FusionOp_MatMul_", "matmul_chain"},
    {"FusionOp_BatchMatMul_", "matmul_chain"},
    {"FusionOp_", "chain"},
};

const struct lower_op *calls_operator(const char *type) {
  const struct lower_op *op = lower_find_vendor(type);
  for (size_t i = 0; i < sizeof fusions / sizeof *fusions && !op; i++)
    if (strncmp(type, fusions[i].begin, strlen(fusions[i].begin)) == 0)
      op = lower_find(fusions[i].op);
  return op;
}

void calls_order_inputs(struct lower_call *call, const char *order) {
  struct lower_tensor given[LOWER_TENSORS_MAX];
  unsigned count = (unsigned)strlen(order);
  if (call->input_count < count)
    return; /* the operator says what it lacks */
  memcpy(given, call->input, sizeof given);
  for (unsigned i = 0; i < count; i++)
    call->input[i] = given[order[i] - '0'];
}
