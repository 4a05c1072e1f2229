/* SPDX-License-Identifier: Apache-2.0 */
/* softmax(scale * Q K^T) V as layers of a network, and what pass attention makes of them. */
#ifndef VINCI_NETWORKS_PASSES_ATTENTION_H
#define VINCI_NETWORKS_PASSES_ATTENTION_H

#include "networks/passes/pass.h"

struct attention {
  struct graph_node *scores, *factor, *softmax, *product; /* factor may be NULL */
  struct graph_node *queries_factor, *keys_factor; /* numbers that Q and K^T are scaled with */
  struct graph_node *keys;                         /* the transposition that gives K^T */
  struct graph_node *masking; /* adds 0, or a large negative number where a key is hidden */
  uint32_t hidden;            /* 1 there, else 0; GRAPH_NONE: no key is, or causal */
  uint32_t causal; /* the summand that hides from each query the keys behind its own; GRAPH_NONE */
  uint32_t q, k, v, o; /* [B, N, S, D], k before `keys` */
  unsigned order[4];   /* of `keys` */
  double scale;
  double scores_scale; /* of `factor` alone; 1 without */
  uint64_t batch, heads, queries, count, depth;
};

/* What is added to the score of a key to hide the key: exp() of the sum is 0. */
#define ATTENTION_HIDDEN_BELOW (-1000.0)

/* Whether K is [B, S, N, D], and not [B, N, S, D]. */
bool attention_keys_by_rows(const struct attention *attention);
/*
 * Where the parts stay kernels of their own: the scores by K, and not by K^T, and if that pays with
 * rows of keys of zeros behind the last, so that rows of scores are whole blocks of 32 bytes. What
 * those keys add is hidden by a bias. By estimate (scores.c).
 */
void attention_keep_scores(struct pass_context *pass, const struct attention *attention);

#endif
