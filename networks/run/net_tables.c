/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of a network's run, in the vendor's layouts where there are such. */
#include <stdlib.h>
#include <string.h>

#include "core/base/cells.h"
#include "core/base/decimal.h"
#include "core/base/json.h"
#include "lower/kernel/lower.h"
#include "networks/run/net.h"

enum { US_DECIMALS = 3, MB_DECIMALS = 6, PS_DIGITS = 6 };
#define MIB (UINT64_C(1) << 20)

static struct decimal us(uint64_t ps) { return decimal_ratio(ps, 1000000, US_DECIMALS); }

static void put_cell(const char *text, FILE *out) {
  fputc(',', out);
  cell_write(out, text);
}

/* ---- nodes.csv ------------------------------------------------------------------------------ */

static void put_args(const struct graph_node *node, FILE *out) {
  char text[1024];
  size_t used = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < node->arg_count && used < sizeof text; i++)
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i ? " " : "", node->args[i]);
  put_cell(text, out);
}

void net_put_nodes(const struct graph *graph, const struct net_result *result, FILE *out) {
  fputs(
      "node,kind,op,args,origin,stream,from,start_us,duration_us,measured_us,gap_us,host_wait_us,"
      "other_wait_us,slowed_us,blocks,core_us,bound,input_bytes,l2_found_bytes,hbm_bytes,reason\n",
      out);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    const struct net_node *row = &result->nodes[i];
    bool kernel = row->from == NET_SIMULATED || row->from == NET_REMEMBERED;
    cell_write(out, node->name);
    fprintf(out, ",%s", graph_kind_name(node->kind));
    put_cell(node->op, out);
    put_args(node, out);
    put_cell(node->origin, out);
    fprintf(out, ",%u,%s,%s", node->stream, net_from_name(row->from), us(row->task.start_ps).text);
    fprintf(out, ",%s,%s,%s", us(row->task.duration_ps).text,
            node->duration_ps > 0 ? us(node->duration_ps).text : "", us(row->task.gap_ps).text);
    fprintf(out, ",%s,%s", us(row->task.host_wait_ps).text, us(row->task.other_wait_ps).text);
    fprintf(out, ",%s", us(row->task.slowed_ps).text);
    if (kernel)
      fprintf(out, ",%u,%s,%s,%llu,%llu,%llu", row->times.blocks, us(row->times.core_ps).text,
              bound_name(row->times.bound), (unsigned long long)row->read_bytes,
              (unsigned long long)row->found_bytes, (unsigned long long)row->hbm_bytes);
    else
      fputs(",,,,,,", out);
    put_cell(row->reason, out);
    fputc('\n', out);
  }
}

/* ---- kernel_details.csv --------------------------------------------------------------------- */

/* The type that the vendor's profiler prints. */
static const char *vendor_dtype(enum dtype dtype) {
  static const char *const names[DTYPE_COUNT] = {
      [DTYPE_FP16] = "FLOAT16",  [DTYPE_BF16] = "DT_BF16",  [DTYPE_FP32] = "FLOAT",
      [DTYPE_INT4] = "INT4",     [DTYPE_INT8] = "INT8",     [DTYPE_UINT8] = "UINT8",
      [DTYPE_INT16] = "INT16",   [DTYPE_UINT16] = "UINT16", [DTYPE_INT32] = "INT32",
      [DTYPE_UINT32] = "UINT32", [DTYPE_INT64] = "INT64"};
  return names[dtype] ? names[dtype] : dtype_name(dtype);
}

static const char *vendor_format(const char *format) {
  return strcmp(format, "NZ") == 0 ? "FRACTAL_NZ" : format;
}

static void put_shapes(const struct graph *graph, const uint32_t *list, uint32_t count, FILE *out) {
  fputs(",\"\"\"", out); /* the vendor's own cells have quotes within quotes */
  for (uint32_t i = 0; i < count; i++) {
    const struct graph_tensor *tensor = list[i] == GRAPH_NONE ? NULL : &graph->tensors[list[i]];
    fputs(i ? ";" : "", out);
    for (unsigned j = 0; tensor && j < tensor->rank; j++)
      fprintf(out, "%s%llu", j ? "," : "", (unsigned long long)tensor->shape[j]);
  }
  fputs("\"\"\"", out);
}

static void put_tensors(const struct graph *graph, const uint32_t *list, uint32_t count,
                        FILE *out) {
  put_shapes(graph, list, count, out);
  for (uint32_t i = 0; i < count; i++)
    fprintf(out, "%s%s", i ? ";" : ",",
            list[i] == GRAPH_NONE ? "" : vendor_dtype(graph->tensors[list[i]].dtype));
  fputs(count ? "" : ",", out);
  for (uint32_t i = 0; i < count; i++)
    fprintf(out, "%s%s", i ? ";" : ",",
            list[i] == GRAPH_NONE ? "" : vendor_format(graph->tensors[list[i]].format));
  fputs(count ? "" : ",", out);
}

static const char *accelerator_name(const struct graph_node *node, const struct net_node *row) {
  if (node->kind != GRAPH_KERNEL)
    return node->op;
  if (row->task.mixed)
    return "MIX_AIC";
  return row->times.kind == CORE_AIV ? "AI_VECTOR_CORE" : "AI_CORE";
}

enum { PPM_OF_PERCENT = 10000 };

static void put_pipes(const struct net_node *row, FILE *out) {
  static const enum pipe pipes[] = {PIPE_M,   PIPE_S, PIPE_MTE1, PIPE_MTE2,
                                    PIPE_FIX, PIPE_V, PIPE_MTE3};
  fprintf(out, ",%s", us(row->times.core_ps).text);
  for (size_t i = 0; i < sizeof pipes / sizeof *pipes; i++)
    fprintf(out, ",%s", us(row->times.pipe_ps[pipes[i]]).text);
}

static bool is_task(const struct graph_node *node) {
  return node->kind == GRAPH_KERNEL || node->kind == GRAPH_TASK;
}

void net_put_kernel_details(const struct graph *graph, const struct net_result *result, FILE *out) {
  char type[WORD_BYTES_MAX];
  uint64_t end = 0;
  fputs("Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Dim,"
        "Input Shapes,Input Data Types,Input Formats,Output Shapes,Output Data Types,"
        "Output Formats,aicore_time(us),aic_mac_time(us),scalar_time(us),aic_mte1_time(us),"
        "mte2_time(us),aic_fixpipe_time(us),aiv_vec_time(us),aiv_mte3_time(us),"
        "cube_utilization(%)\n",
        out);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    const struct net_node *row = &result->nodes[i];
    if (!is_task(node))
      continue;
    const struct lower_op *op = node->kind == GRAPH_KERNEL ? lower_find(node->op) : NULL;
    if (!op || !words_nth(op->vendor_types, 0, type))
      snprintf(type, sizeof type, "%s", node->kind == GRAPH_KERNEL ? node->op : node->name);
    fprintf(out, "%u", node->stream);
    put_cell(node->name, out);
    put_cell(type, out);
    put_cell(accelerator_name(node, row), out);
    uint64_t start = row->task.start_ps;
    fprintf(out, ",%s,%s", us(start).text, us(row->task.duration_ps).text);
    fprintf(out, ",%s,%u", us(start > end ? start - end : 0).text, row->times.blocks);
    put_tensors(graph, node->inputs, node->input_count, out);
    put_tensors(graph, node->outputs, node->output_count, out);
    put_pipes(row, out);
    fprintf(out, ",%s\n", decimal_ratio(row->times.cube_ppm, PPM_OF_PERCENT, 3).text);
    end = start + row->task.duration_ps > end ? start + row->task.duration_ps : end;
  }
}

/* ---- step_trace_time.csv, memory_record.csv -------------------------------------------------- */

void net_put_step_trace(const struct net_result *result, FILE *out) {
  uint64_t core = result->queue.core_ps;
  fputs("Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free\n", out);
  fprintf(out, "0,%s,0.000,0.000,0.000", us(core).text);
  fprintf(out, ",%s\n", us(result->queue.end_ps - core).text);
}

void net_put_memory_record(const struct graph *graph, const struct net_result *result, FILE *out) {
  struct graph_life *lives = calloc((size_t)graph->tensor_count + 1, sizeof *lives);
  int64_t *change = calloc((size_t)graph->node_count + 2, sizeof *change), now = 0;
  fputs("Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Node\n", out);
  if (lives && change)
    graph_lives(graph, lives);
  for (uint32_t i = 0; lives && change && i < graph->tensor_count; i++) {
    if (!lives[i].used || graph->tensors[i].memory != GRAPH_NONE)
      continue;
    change[lives[i].first] += (int64_t)graph_bytes(&graph->tensors[i]);
    change[lives[i].last + 1] -= (int64_t)graph_bytes(&graph->tensors[i]);
  }
  for (uint32_t i = 0; change && i < graph->node_count; i++) {
    now += change[i];
    fprintf(out, "GRAPH,%s,%s", us(result->nodes[i].task.start_ps).text,
            decimal_ratio((uint64_t)now, MIB, MB_DECIMALS).text);
    fprintf(out, ",%s", decimal_ratio(result->plan.bytes, MIB, MB_DECIMALS).text);
    put_cell(graph->nodes[i].name, out);
    fputc('\n', out);
  }
  free(lives);
  free(change);
}

/* ---- trace.json ------------------------------------------------------------------------------ */

void net_put_timeline(const struct graph *graph, const struct net_result *result, FILE *out) {
  const char *separator = "";
  fputs("{\"traceEvents\":[", out);
  for (uint32_t i = 0; i < graph->node_count; i++) {
    const struct graph_node *node = &graph->nodes[i];
    const struct net_node *row = &result->nodes[i];
    if (node->kind == GRAPH_VIEW)
      continue;
    fprintf(out, "%s\n{\"name\":", separator);
    json_write_plain(out, node->name);
    fprintf(out, ",\"ph\":\"X\",\"pid\":\"%s\",\"tid\":\"stream %u\",\"ts\":%s",
            node->kind == GRAPH_KERNEL ? "AI Cores" : node->op, node->stream,
            decimal_exact(row->task.start_ps, PS_DIGITS).text);
    fprintf(out,
            ",\"dur\":%s,\"args\":{\"op\":", decimal_exact(row->task.duration_ps, PS_DIGITS).text);
    json_write_plain(out, node->op);
    fputs(",\"origin\":", out);
    json_write_plain(out, node->origin);
    fputs("}}", out);
    separator = ",";
  }
  fputs("\n],\"displayTimeUnit\":\"ns\"}\n", out);
}
