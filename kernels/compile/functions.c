/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector functions: the register instructions between the beginning and the end of a function with
 * the mark __simd_vf__ are one function of the vector unit. So the body of such a function gets, on
 * the same line, a first statement,
 *
 *   __simd_vf__ inline void add(__ubuf__ float *x) { vinci_cce::function_scope vinci_cce_scope_;
 * ...
 *
 * (include/vinci/cce/register_types.h). A function in a macro is not found; what its instructions
 * do is computed, and they take no time of their own.
 */
#include <string.h>

#include "kernels/compile/text.h"

static const char mark[] = "__simd_vf__";
static const char scope[] = " vinci_cce::function_scope vinci_cce_scope_;";

static bool is_word(char byte) {
  return byte == '_' || (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
         (byte >= 'a' && byte <= 'z');
}

const char *source_find_body(const char *start, const char *at, const char *end) {
  size_t length = strlen(mark);
  int depth = 0;
  if ((size_t)(end - at) <= length || memcmp(at, mark, length) != 0 || is_word(at[length]) ||
      (at > start && is_word(at[-1])))
    return NULL;
  for (at += length; at < end;) {
    const char *behind = source_skip_text(start, at, end);
    if (behind != at) {
      at = behind;
      continue;
    }
    if (depth == 0 && *at == '{')
      return at + 1;
    if (depth == 0 && *at == ';')
      return NULL;
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    at++;
  }
  return NULL;
}

void source_put_scope(struct source_text *out) {
  source_text_add(out, scope, scope + strlen(scope));
}
