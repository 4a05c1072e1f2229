/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Algorithms whose steps are as many as the logarithm of the ranks: NHR (nonuniform hierarchical
 * ring), NB (nonuniform Bruck), RHD (recursive halving and doubling), and the binomial tree.
 *
 * NHR and NB differ in which parts lie where when. In the all-gather of NHR the distances fall: at
 * distance d a rank passes on the parts that are 0, 2d, 4d ... ranks behind, as far as the
 * receiver lacks them (odd multiples of d up to ranks - 1 reach each receiver once). In that
 * of NB the distances grow, and a rank passes on all it holds, the last time only what the
 * receiver lacks. The reduce-scatter is the all-gather backwards in time: what was sent from a
 * to b goes from b to a and is added.
 */
#include "devices/collective/steps.h"

/* Bytes of the parts first, first - stride ..., `count` of them, none below 0. Parts are equal up
 * to the last that has bytes, which may have fewer. */
static uint64_t run_bytes(const struct collective_call *call, uint32_t first, uint32_t stride,
                          uint32_t count) {
  uint64_t part = collective_part(call, 0), full = part ? call->bytes / part : 0;
  uint64_t beyond = first < full ? 0 : (first - full) / stride + 1;
  uint64_t bytes = count > beyond ? (count - beyond) * part : 0;
  if (full <= first && (first - full) % stride == 0 && (first - full) / stride < count)
    bytes += call->bytes - full * part;
  return bytes;
}

/* The same from a part backwards, round by way of the last one: less than all parts. */
static uint64_t strided_bytes(const struct collective_call *call, uint32_t first, uint32_t stride,
                              uint32_t count) {
  uint32_t low = first / stride + 1 < count ? first / stride + 1 : count;
  uint64_t bytes = run_bytes(call, first, stride, low);
  if (low < count)
    bytes += run_bytes(call, first + call->ranks - low * stride, stride, count - low);
  return bytes;
}

/* Bytes that a rank passes on at a distance, in the all-gather. */
static uint64_t nhr_bytes(const struct collective_call *call, uint32_t rank, uint32_t distance) {
  return strided_bytes(call, rank, 2 * distance, (call->ranks + distance - 1) / (2 * distance));
}

static uint64_t nb_bytes(const struct collective_call *call, uint32_t rank, uint32_t distance) {
  uint32_t lacking = call->ranks - distance;
  return strided_bytes(call, rank, 1, distance < lacking ? distance : lacking);
}

typedef uint64_t (*bytes_fn)(const struct collective_call *call, uint32_t rank, uint32_t distance);

/* The reduce-scatter's turn is the all-gather's at this distance, with both ends changed. */
static struct group_step reduce_at(const struct collective_call *call, uint32_t rank,
                                   uint32_t distance, bytes_fn bytes, bool add) {
  uint32_t to = rank_before(call, rank, distance);
  if (add)
    return step_local(STEP_ADD, bytes(call, rank, distance));
  return step_exchange(to, rank_after(call, rank, distance), bytes(call, to, distance),
                       call->adds_inline);
}

static struct group_step gather_at(const struct collective_call *call, uint32_t rank,
                                   uint32_t distance, bytes_fn bytes) {
  return step_exchange(rank_after(call, rank, distance), rank_before(call, rank, distance),
                       bytes(call, rank, distance), false);
}

/* `falls`: the distances of the all-gather fall, and so those of the reduce-scatter grow. */
static struct group_step both(const struct collective_call *call, uint32_t rank, uint32_t index,
                              bool falls, bytes_fn bytes) {
  uint32_t turns = log2_up(call->ranks), each = call->adds_inline ? 1 : 2;
  if (call->op == COLLECTIVE_BARRIER && index < turns)
    return step_exchange(rank_after(call, rank, UINT64_C(1) << index),
                         rank_before(call, rank, UINT64_C(1) << index), 0, false);
  if (call->op == COLLECTIVE_BARRIER)
    return step_of(STEP_END);
  if (call->op != COLLECTIVE_ALL_GATHER) {
    uint32_t turn = index / each, power = falls ? turn : turns - 1 - turn;
    if (turn < turns)
      return reduce_at(call, rank, UINT32_C(1) << power, bytes, index % each == 1);
    index -= turns * each;
  }
  if (call->op == COLLECTIVE_REDUCE_SCATTER || index >= turns)
    return step_of(STEP_END);
  return gather_at(call, rank, UINT32_C(1) << (falls ? turns - 1 - index : index), bytes);
}

struct group_step collective_nhr_step(const struct collective_call *call, uint32_t rank,
                                      uint32_t plane, uint32_t index) {
  (void)plane;
  return both(call, rank, index, true, nhr_bytes);
}

struct group_step collective_nb_step(const struct collective_call *call, uint32_t rank,
                                     uint32_t plane, uint32_t index) {
  (void)plane;
  return both(call, rank, index, false, nb_bytes);
}

/* ---- recursive halving and doubling ---------------------------------------------------------- */

/*
 * Ranks beyond a power of two give their buffer to a neighbour first, and get the result from there
 * at the end: of the first 2 * surplus ranks those with even numbers stay out meanwhile.
 */
struct halves {
  uint32_t surplus, members, turns;
  bool out;        /* this rank stays out */
  uint32_t member; /* its number among those that do not */
};

static struct halves halves_of(const struct collective_call *call, uint32_t rank) {
  struct halves halves = {.turns = log2_up(call->ranks + 1) - 1};
  halves.members = UINT32_C(1) << halves.turns;
  halves.surplus = call->ranks - halves.members;
  bool paired = rank < 2 * halves.surplus;
  halves.out = paired && rank % 2 == 0;
  halves.member = paired ? rank / 2 : rank - halves.surplus;
  return halves;
}

static uint32_t rank_of_member(const struct halves *halves, uint32_t member) {
  return member < halves->surplus ? 2 * member + 1 : member + halves->surplus;
}

/* Bytes of the parts of `count` members from one on. */
static uint64_t range_bytes(const struct collective_call *call, const struct halves *halves,
                            uint32_t first, uint32_t count) {
  struct collective_call members = *call;
  members.ranks = halves->members;
  return collective_part_at(&members, first + count) - collective_part_at(&members, first);
}

/* Halving at turn t: the half of the partner goes out. */
static struct group_step halving(const struct collective_call *call, const struct halves *halves,
                                 uint32_t turn, bool add) {
  uint32_t half = halves->members >> (turn + 1), partner = halves->member ^ half;
  uint32_t given = partner / half * half, kept = halves->member / half * half;
  uint32_t rank = rank_of_member(halves, partner);
  return add ? step_local(STEP_ADD, range_bytes(call, halves, kept, half))
             : step_exchange(rank, rank, range_bytes(call, halves, given, half), call->adds_inline);
}

/* Doubling at turn t: what is held goes out. */
static struct group_step doubling(const struct collective_call *call, const struct halves *halves,
                                  uint32_t turn) {
  uint32_t half = UINT32_C(1) << turn, partner = halves->member ^ half;
  uint32_t held = halves->member / half * half;
  uint32_t rank = rank_of_member(halves, partner);
  return step_exchange(rank, rank, range_bytes(call, halves, held, half), false);
}

/* The steps before and after, of ranks in a pair; there are as many of each for all ranks. */
static struct group_step outer_step(const struct collective_call *call, const struct halves *halves,
                                    uint32_t rank, bool before) {
  if (rank >= 2 * halves->surplus)
    return step_of(STEP_NOTHING);
  bool gives = halves->out == before;
  uint32_t other = halves->out ? rank + 1 : rank - 1;
  return gives ? step_exchange(other, STEP_NOBODY, call->bytes, before && call->adds_inline)
               : step_exchange(STEP_NOBODY, other, 0, false);
}

struct group_step collective_rhd_step(const struct collective_call *call, uint32_t rank,
                                      uint32_t plane, uint32_t index) {
  (void)plane;
  struct halves halves = halves_of(call, rank);
  uint32_t each = call->adds_inline ? 1 : 2, reduce_steps = halves.turns * each;
  if (call->op != COLLECTIVE_ALL_GATHER) {
    if (index == 0)
      return outer_step(call, &halves, rank, true);
    if (index == 1) {
      bool adds = !call->adds_inline && rank < 2 * halves.surplus && !halves.out;
      return adds ? step_local(STEP_ADD, call->bytes) : step_of(STEP_NOTHING);
    }
    index -= 2;
    if (index < reduce_steps)
      return halves.out ? step_of(STEP_NOTHING)
                        : halving(call, &halves, index / each, index % each == 1);
    index -= reduce_steps;
  }
  if (call->op == COLLECTIVE_REDUCE_SCATTER)
    return step_of(STEP_END);
  if (index < halves.turns)
    return halves.out ? step_of(STEP_NOTHING) : doubling(call, &halves, index);
  if (call->op == COLLECTIVE_ALL_REDUCE && index == halves.turns)
    return outer_step(call, &halves, rank, false);
  return step_of(STEP_END);
}

/* ---- binomial tree --------------------------------------------------------------------------- */

/* At turn t those that have the data, at distances below 2^t of the root, give to others. */
struct group_step collective_tree_step(const struct collective_call *call, uint32_t rank,
                                       uint32_t plane, uint32_t index) {
  (void)plane;
  uint32_t turns = log2_up(call->ranks), distance = rank_before(call, rank, call->root);
  bool reduces = call->op == COLLECTIVE_REDUCE;
  uint32_t each = reduces && !call->adds_inline ? 2 : 1, turn = index / each;
  if (turn >= turns)
    return step_of(STEP_END);
  uint32_t half = UINT32_C(1) << (reduces ? turns - 1 - turn : turn);
  bool inner = distance < half && distance + half < call->ranks;
  bool leaf = distance >= half && distance < 2 * half;
  if (index % each == 1)
    return inner ? step_local(STEP_ADD, call->bytes) : step_of(STEP_NOTHING);
  if (!inner && !leaf)
    return step_of(STEP_NOTHING);
  uint32_t other = inner ? rank_after(call, rank, half) : rank_before(call, rank, half);
  return inner != reduces
             ? step_exchange(other, STEP_NOBODY, call->bytes, reduces && call->adds_inline)
             : step_exchange(STEP_NOBODY, other, 0, false);
}
