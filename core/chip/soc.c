/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parameter table of a SoC (core/chip/soc.def plus the families vector.*,
 * path.* and kernel.*), and access by key.
 */
#include "core/chip/soc.h"
#include "core/chip/layout.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/arith.h"
#include "core/base/diag.h"
#include "core/chip/energy.h"
#include "core/chip/mem.h"

/* Limits of the families: generous, they only catch slips of the pen. */
enum {
  FAMILY_MILLI_MAX = 1000000000,
  FAMILY_REQUEST_MAX = 4096,
  FAMILY_KERNEL_MAX = 10000000,
  FAMILY_REGISTER_MAX = 1000,
};
#define FAMILY_PEAK_MAX INT64_C(1000000000000000)

static const struct soc_param plain_params[] = {
#define PARAM(field, key, kind, minimum, maximum, text)                                            \
  {key, SOC_KIND_##kind, offsetof(struct vinci_soc, field), minimum, maximum, false, text},
#include "core/chip/soc.def"
#undef PARAM
};

#define VECTOR_PARAM(id, field, name, minimum, optional, text)                                     \
  {                                                                                                \
    "vector." #id "." name, SOC_KIND_MCYCLES,                                                      \
        offsetof(struct vinci_soc, vector_class[VECTOR_CLASS_##id].field), minimum,                \
        FAMILY_MILLI_MAX, optional, text                                                           \
  }

/* Includes the rows of NONE, which stands first and has no cost: skipped below. */
static const struct soc_param vector_params[] = {
#define X(id, text)                                                                                \
  VECTOR_PARAM(id, startup_mcycles, "startup_cycles", 0, false,                                    \
               "from an empty vector pipe to the first result: " text),                            \
      VECTOR_PARAM(id, per_repeat_mcycles, "cycles_per_repeat", 1, false, "steady state: " text),  \
      VECTOR_PARAM(id, minimum_mcycles, "minimum_cycles", 0, false,                                \
                   "shortest distance of two instructions: " text),                                \
      VECTOR_PARAM(id, offset_mcycles, "offset_cycles", 0, true,                                   \
                   "besides the repeats, back to back: " text),
    VECTOR_CLASS_LIST(X)
#undef X
};

#define REGISTER_PARAM(id, field, name, kind, text)                                                \
  {                                                                                                \
    "vf." #id "." name, SOC_KIND_##kind,                                                           \
        offsetof(struct vinci_soc, register_class[REGISTER_##id].field), 0, FAMILY_REGISTER_MAX,   \
        true, text                                                                                 \
  }

/* As above, with rows of NONE. */
static const struct soc_param register_params[] = {
#define X(id, text)                                                                                \
  REGISTER_PARAM(id, latency_cycles, "latency_cycles", CYCLES, "issue to end: " text),             \
      REGISTER_PARAM(id, forward_cycles, "forward_cycles", CYCLES,                                 \
                     "issue to the issue of a reader: " text),                                     \
      REGISTER_PARAM(id, special_cycles, "special_cycles", CYCLES,                                 \
                     "issue to the issue of a reader in the special unit: " text),                 \
      REGISTER_PARAM(id, store_cycles, "store_cycles", CYCLES,                                     \
                     "issue to the issue of a store: " text),                                      \
      REGISTER_PARAM(id, interval_cycles, "interval_cycles", CYCLES,                               \
                     "special unit, between two of a unit; 0 = not there: " text),                 \
      REGISTER_PARAM(id, units, "units", COUNT,                                                    \
                     "execution units that have the instruction: " text),
    REGISTER_CLASS_LIST(X)
#undef X
};

#define PATH_PARAM(id, field, name, kind, maximum, text)                                           \
  {                                                                                                \
    "path." #id "." name, SOC_KIND_##kind, offsetof(struct vinci_soc, path[PATH_##id].field), 0,   \
        maximum, true, text                                                                        \
  }

static const struct soc_param path_params[] = {
#define X(id, from, to, pipe)                                                                      \
  PATH_PARAM(id, mbytes_per_cycle, "bytes_per_cycle", MBYTES_PER_CYCLE, FAMILY_MILLI_MAX,          \
             #from " to " #to ", one core; 0 = no such path"),                                     \
      PATH_PARAM(id, startup_mcycles, "startup_cycles", MCYCLES, FAMILY_MILLI_MAX,                 \
                 #from " to " #to ": start to first byte moving, L2 hit"),                         \
      PATH_PARAM(id, hbm_mbytes_per_cycle, "hbm_bytes_per_cycle", MBYTES_PER_CYCLE,                \
                 FAMILY_MILLI_MAX, #from " to " #to ": one core alone, L2 miss; 0 = as a hit"),    \
      PATH_PARAM(id, minimum_mcycles, "minimum_cycles", MCYCLES, FAMILY_MILLI_MAX,                 \
                 #from " to " #to ": shortest transfer, start-up included"),                       \
      PATH_PARAM(id, overlap_issue_mcycles, "overlap_issue_cycles", MCYCLES, FAMILY_MILLI_MAX,     \
                 #from " to " #to ": start to start of copies that overlap"),                      \
      PATH_PARAM(id, sustained_mbytes_per_cycle, "sustained_bytes_per_cycle", MBYTES_PER_CYCLE,    \
                 FAMILY_MILLI_MAX, #from " to " #to ": start to end, at best; 0 = no limit"),      \
      PATH_PARAM(id, acknowledge_mcycles, "acknowledge_cycles", MCYCLES, FAMILY_MILLI_MAX,         \
                 #from " to " #to ": from the last byte sent to the answer that ends a write"),    \
      PATH_PARAM(id, unaligned_mcycles, "unaligned_cycles", MCYCLES, FAMILY_MILLI_MAX,             \
                 #from " to " #to                                                                  \
                       ": of the engine for each burst that is not whole 32-byte blocks"),         \
      PATH_PARAM(id, request_bytes, "request_bytes", BYTES, FAMILY_REQUEST_MAX,                    \
                 #from " to " #to ": largest request to GM; 0 = unknown"),                         \
      PATH_PARAM(id, spread_mcycles, "spread_cycles", MCYCLES, FAMILY_MILLI_MAX,                   \
                 #from " to " #to                                                                  \
                       ": the start-up grows by this with each doubling of the requests"),         \
      PATH_PARAM(id, peak_bytes_per_second, "peak", BYTES_PER_SECOND, FAMILY_PEAK_MAX,             \
                 #from " to " #to ": nominal limit of one core, for usage rates; 0 = unknown"),
    PATH_LIST(X)
#undef X
};

#define KERNEL_PARAM(id, field, name, kind, text)                                                  \
  {                                                                                                \
    "kernel." #id "." name, SOC_KIND_##kind,                                                       \
        offsetof(struct vinci_soc, kernel[KERNEL_##id].field), 0, FAMILY_KERNEL_MAX, false, text   \
  }

static const struct soc_param kernel_params[] = {
#define X(id, text)                                                                                \
  KERNEL_PARAM(id, head_cycles, "head_cycles", CYCLES,                                             \
               "scalar work of a block before its first copy: " text),                             \
      KERNEL_PARAM(id, issue_cycles, "issue_cycles", CYCLES,                                       \
                   "scalar cycles of each instruction, 0 = scalar.issue_cycles: " text),           \
      KERNEL_PARAM(id, code_bytes, "code_bytes", BYTES,                                            \
                   "code that a block runs through, 0 = not known: " text),                        \
      KERNEL_PARAM(id, line_cycles, "line_cycles", CYCLES,                                         \
                   "wait for each line of code that the instruction cache does not hold: " text),
    KERNEL_CODE_LIST(X)
#undef X
};

enum {
  PLAIN_COUNT = sizeof plain_params / sizeof plain_params[0],
  VECTOR_FIELDS = sizeof vector_params / sizeof vector_params[0] / VECTOR_CLASS_COUNT,
  VECTOR_COUNT = VECTOR_FIELDS * (VECTOR_CLASS_COUNT - 1),
  REGISTER_FIELDS = sizeof register_params / sizeof register_params[0] / REGISTER_CLASS_COUNT,
  REGISTERS_COUNT = REGISTER_FIELDS * (REGISTER_CLASS_COUNT - 1),
  PATHS_COUNT = sizeof path_params / sizeof path_params[0],
  KERNELS_COUNT = sizeof kernel_params / sizeof kernel_params[0],
  PARAM_TOTAL = PLAIN_COUNT + VECTOR_COUNT + REGISTERS_COUNT + PATHS_COUNT + KERNELS_COUNT,
};
_Static_assert(REGISTER_NONE == 0, "the rows of NONE come first and are skipped");
_Static_assert(VECTOR_CLASS_NONE == 0, "the rows of NONE come first and are skipped");
_Static_assert((int)PARAM_TOTAL <= (int)SOC_PARAMS_MAX, "SOC_PARAMS_MAX is too small");

size_t soc_param_count(void) { return PARAM_TOTAL; }

const struct soc_param *soc_param(size_t index) {
  if (index < PLAIN_COUNT)
    return &plain_params[index];
  index -= PLAIN_COUNT;
  if (index < VECTOR_COUNT)
    return &vector_params[VECTOR_FIELDS + index];
  index -= VECTOR_COUNT;
  if (index < REGISTERS_COUNT)
    return &register_params[REGISTER_FIELDS + index];
  index -= REGISTERS_COUNT;
  return index < PATHS_COUNT ? &path_params[index] : &kernel_params[index - PATHS_COUNT];
}

/* The length of a key without its last name: of "path.GM_UB.startup_cycles" that of "path.GM_UB.".
 */
static size_t family_length(const char *key) {
  const char *dot = strrchr(key, '.');
  return dot ? (size_t)(dot + 1 - key) : 0;
}

/* A member of a family has as many parameters as each other, one after the other: those whose first
 * has another family are passed over as a whole. */
static size_t find_in(const struct soc_param *params, size_t count, size_t fields,
                      const char *key) {
  size_t family = fields > 1 ? family_length(key) : 0;
  for (size_t i = 0; i < count; i += fields) {
    if (*params[i].key != *key || strncmp(params[i].key, key, family) != 0)
      continue;
    for (size_t field = i; field < i + fields; field++)
      if (strcmp(params[field].key, key) == 0)
        return field;
  }
  return count;
}

size_t soc_param_find(const char *key) {
  const struct {
    const struct soc_param *params;
    size_t count, fields;
  } parts[] = {
      {plain_params, PLAIN_COUNT, 1},
      {vector_params + VECTOR_FIELDS, VECTOR_COUNT, VECTOR_FIELDS},
      {register_params + REGISTER_FIELDS, REGISTERS_COUNT, REGISTER_FIELDS},
      {path_params, PATHS_COUNT, PATHS_COUNT / PATH_COUNT},
      {kernel_params, KERNELS_COUNT, KERNELS_COUNT / KERNEL_CODE_COUNT},
  };
  size_t before = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    size_t found = find_in(parts[i].params, parts[i].count, parts[i].fields, key);
    before += found;
    if (found < parts[i].count)
      break;
  }
  return before;
}

static const char *const name_keys[] = {
#define NAME(id, field, key, text) key,
    SOC_NAMES(NAME)
#undef NAME
};

const char *soc_name_key(enum soc_name name) { return name_keys[name]; }

enum soc_name soc_name_by_key(const char *key) {
  unsigned name = 0;
  while (name < SOC_NAME_COUNT && strcmp(name_keys[name], key) != 0)
    name++;
  return (enum soc_name)name;
}

const char *soc_l2_policy(size_t index) {
  static const char *const names[] = {
#define L2_POLICY(name, text) #name,
#include "core/chip/l2_policies.def"
#undef L2_POLICY
  };
  return index < sizeof names / sizeof *names ? names[index] : NULL;
}

/* Whatever an override can change: numbers, then names. */
static const char *key_at(const void *context, size_t index) {
  (void)context;
  return index < PARAM_TOTAL ? soc_param(index)->key : name_keys[index - PARAM_TOTAL];
}

const char *soc_param_nearest(const char *key) {
  return diag_nearest(key, PARAM_TOTAL + SOC_NAME_COUNT, key_at, NULL);
}

int64_t soc_get(const struct vinci_soc *soc, size_t index) {
  int64_t value;
  memcpy(&value, (const char *)soc + soc_param(index)->offset, sizeof value);
  return value;
}

enum vinci_status soc_store(struct vinci_soc *soc, size_t index, int64_t value,
                            struct soc_provenance provenance, struct vinci_diag *diag) {
  const struct soc_param *param = soc_param(index);
  enum vinci_status status = soc_param_check(param, value, diag);
  if (status != VINCI_OK)
    return status;
  memcpy((char *)soc + param->offset, &value, sizeof value);
  provenance.given = true;
  soc->provenance[index] = provenance;
  return VINCI_OK;
}

const char *vinci_soc_name(const vinci_soc *soc) { return soc->name; }

void vinci_soc_free(vinci_soc *soc) {
  if (!soc)
    return;
  if (soc->memory)
    mem_free(soc->memory);
  free(soc->memory);
  energy_free(soc->energy);
  free(soc->energy);
  arena_free(&soc->arena);
  free(soc);
}

uint64_t soc_space_bytes(const struct vinci_soc *soc, enum space space) {
  switch (space) {
  case SPACE_GM:
    return (uint64_t)soc->hbm_bytes;
  case SPACE_L1:
    return (uint64_t)soc->l1_bytes;
  case SPACE_L0A:
    return (uint64_t)soc->l0a_bytes;
  case SPACE_L0B:
    return (uint64_t)soc->l0b_bytes;
  case SPACE_L0C:
    return (uint64_t)soc->l0c_bytes;
  case SPACE_UB:
    return (uint64_t)soc->ub_bytes;
  case SPACE_BT:
    return (uint64_t)soc->bt_bytes;
  case SPACE_FB:
    return (uint64_t)soc->fb_bytes;
  case SPACE_IDX: /* Ascend C documentation, LoadDataWithSparse: a quarter of L0B */
    return soc->arch == ARCH_C220 ? (uint64_t)soc->l0b_bytes / SPARSE_INDEX_SHARE : 0;
  case SPACE_L0A_MX:
    return soc->cube_fp4_mcycles > 0 ? (uint64_t)soc->l0a_bytes / MX_SHARE : 0;
  case SPACE_L0B_MX:
    return soc->cube_fp4_mcycles > 0 ? (uint64_t)soc->l0b_bytes / MX_SHARE : 0;
  case SPACE_VR:
    return soc->vf_physical > 0 ? REGISTER_NAMES * REPEAT_BYTES : 0;
  case SPACE_COUNT:
    break;
  }
  return 0;
}

static bool is_split(enum arch arch) { return arch == ARCH_C220 || arch == ARCH_C310; }

unsigned soc_core_count(const struct vinci_soc *soc, enum core_kind kind) {
  switch (kind) {
  case CORE_AIC:
    return is_split(soc->arch) ? (unsigned)soc->cube_cores : 0;
  case CORE_AICORE:
    return is_split(soc->arch) ? 0 : (unsigned)soc->cube_cores;
  case CORE_AIV:
    return (unsigned)soc->vector_cores;
  case CORE_KIND_COUNT:
    break;
  }
  return 0;
}

uint32_t soc_vectors_per_cube(const struct vinci_soc *soc) {
  int64_t per_cube = soc->cube_cores > 0 ? soc->vector_cores / soc->cube_cores : 1;
  return per_cube > 0 ? (uint32_t)per_cube : 1;
}

uint32_t soc_vector_beside(const struct vinci_soc *soc, uint32_t cube, uint32_t sub) {
  return soc_core_count(soc, CORE_AIC) + cube * soc_vectors_per_cube(soc) + sub;
}

uint32_t soc_cube_beside(const struct vinci_soc *soc, uint32_t vector) {
  return (vector - soc_core_count(soc, CORE_AIC)) / soc_vectors_per_cube(soc);
}

/* AIV n stands in cluster n / (AIV per AIC); vector cores beside coupled cores follow them. */
void soc_core_place(const struct vinci_soc *soc, enum core_kind kind, uint32_t n, uint32_t *cluster,
                    uint32_t *member) {
  uint32_t coupled = soc_core_count(soc, CORE_AICORE);
  *cluster = n;
  *member = 0;
  if (kind == CORE_AIV && coupled > 0) {
    *cluster = coupled + n;
  } else if (kind == CORE_AIV) {
    *cluster = n / soc_vectors_per_cube(soc);
    *member = n % soc_vectors_per_cube(soc);
  }
}

uint64_t soc_core_hz(const struct vinci_soc *soc, enum core_kind kind) {
  return (uint64_t)(kind == CORE_AIV ? soc->vector_hz : soc->core_hz);
}

uint64_t soc_hbm_bytes_per_second(const struct vinci_soc *soc) {
  enum { PPM = 1000000 };
  uint128 nominal =
      (uint128)(uint64_t)soc->hbm_bytes_per_second * (uint64_t)soc->hbm_bandwidth_scale / PPM;
  return (uint64_t)(nominal * (uint64_t)soc->hbm_pin_share / PPM);
}

uint64_t soc_hbm_stream_bytes_per_second(const struct vinci_soc *soc) {
  const struct mem_spec *mem = soc->memory;
  uint64_t peak = soc_hbm_bytes_per_second(soc);
  if (!mem || mem->rfc_cycles >= mem->refi_cycles)
    return peak;
  return peak - (uint64_t)((uint128)peak * (uint64_t)mem->rfc_cycles / (uint64_t)mem->refi_cycles);
}

uint64_t soc_channel_hz(const struct vinci_soc *soc) {
  return (uint64_t)((uint128)soc_hbm_bytes_per_second(soc) * (uint64_t)soc->memory->burst_cycles /
                    ((uint64_t)soc->hbm_channels * (uint64_t)soc->memory->burst_bytes));
}

int64_t soc_cube_mcycles(const struct vinci_soc *soc, enum dtype dtype) {
  switch (dtype) {
  case DTYPE_FP16:
    return soc->cube_fp16_mcycles;
  case DTYPE_BF16:
    return soc->cube_bf16_mcycles;
  case DTYPE_FP32:
    return soc->cube_fp32_mcycles;
  case DTYPE_HF32:
    return soc->cube_hf32_mcycles;
  case DTYPE_INT8:
  case DTYPE_UINT8:
    return soc->cube_int8_mcycles;
  case DTYPE_INT4:
    return soc->cube_int4_mcycles;
  case DTYPE_FP8_E4M3:
  case DTYPE_FP8_E5M2:
    return soc->cube_fp8_mcycles;
  case DTYPE_FP4_E2M1:
  case DTYPE_FP4_E1M2:
    return soc->cube_fp4_mcycles;
  default:
    return 0;
  }
}

uint64_t soc_dispatch_ps(const struct vinci_soc *soc, uint64_t places, uint64_t blocks,
                         uint64_t block) {
  if (blocks >= places)
    return block * (uint64_t)soc->launch_block_ps;
  uint64_t clusters = min_u64(blocks, (uint64_t)soc->cube_cores);
  return block * clusters / blocks * (uint64_t)soc->launch_cluster_ps;
}

uint64_t soc_code_cycles(const struct vinci_soc *soc, uint64_t line_cycles, uint64_t lines,
                         uint64_t missing, uint64_t cores) {
  uint64_t first_cycles = (uint64_t)soc->code_first_cycles * (cores - 1);
  return missing * line_cycles + (lines > 0 ? first_cycles * missing / lines : 0);
}

uint32_t soc_code_lines(const struct vinci_soc *soc, uint64_t bytes) {
  return (uint32_t)ceil_div(bytes, (uint64_t)soc->code_line_bytes);
}

unsigned soc_queue_depth(const struct vinci_soc *soc, enum pipe pipe) {
  switch (pipe) {
  case PIPE_V:
    return (unsigned)soc->queue_v;
  case PIPE_M:
    return (unsigned)soc->queue_m;
  case PIPE_MTE1:
    return (unsigned)soc->queue_mte1;
  case PIPE_MTE2:
    return (unsigned)soc->queue_mte2;
  case PIPE_MTE3:
    return (unsigned)soc->queue_mte3;
  case PIPE_FIX:
    return (unsigned)soc->queue_fix;
  default:
    return 1; /* the scalar unit executes what it issues */
  }
}
