/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four contexts in two threads: each has a chip of its own and asks for all that the library does
 * in its process. Each sees what it sees alone. `configure --enable-sanitizers=thread` also looks
 * at what the threads share. Linked to libvinci alone.
 */
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "core/vinci_auto.h"
#include "core/vinci_cuts.h"
#include "core/vinci_energy.h"
#include "core/vinci_group.h"
#include "core/vinci_kernel.h"
#include "core/vinci_study.h"
#include "core/vinci_tables.h"
#include "core/vinci_timeline.h"
#include "core/vinci_tune.h"

enum { CONTEXTS = 4, THREADS = 2 };

struct context {
  const char *chip, *set;
  char folder[80]; /* of this context alone */
  FILE *out;       /* what it has seen */
  vinci_soc *soc;
  vinci_trace *trace;
};

static const char *source(const char *name) {
  static _Thread_local char path[4096];
  const char *top = getenv("TESTS_SRCDIR");
  snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
  return path;
}

static void see(struct context *context, const char *what, enum vinci_status status,
                const struct vinci_diag *diag) {
  fprintf(context->out, "%s: %d %s\n", what, (int)status, diag->text);
}

/* ---- what a context does: one thing after the other ---- */

static void load_chip(struct context *context) {
  struct vinci_diag diag = {0}, none = {0}, energy_diag = {0};
  vinci_soc *unknown = NULL;
  struct vinci_soc_number number;
  see(context, "chip", vinci_soc_load(context->chip, NULL, &context->soc, &diag), &diag);
  see(context, "number", vinci_soc_set(context->soc, context->set, &diag), &diag);
  see(context, "no chip", vinci_soc_load("Ascend910B5", NULL, &unknown, &none), &none);
  for (size_t i = 0; vinci_soc_number(context->soc, i, &number); i++)
    fprintf(context->out, "%s=%s\n", number.key, number.value_text);
  see(context, "energy", vinci_soc_load_energy(context->soc, &energy_diag), &energy_diag);
}

static bool see_counter(void *context, const struct vinci_counter *counter, uint64_t value) {
  fprintf(context, "%s %" PRIu64 "\n", counter->name, value);
  return true;
}

static void run(struct context *context, const vinci_trace *trace, enum vinci_memory memory) {
  struct vinci_diag diag = {0};
  vinci_result *result = NULL;
  struct vinci_energy energy = {0};
  const struct vinci_run_options options = {
      .struct_size = sizeof options, .memory = memory, .max_events = 4096};
  see(context, "run", vinci_run(context->soc, trace, &options, &result, &diag), &diag);
  if (!result)
    return;
  vinci_result_counters(result, see_counter, context->out);
  (void)vinci_result_energy(result, &energy);
  fprintf(context->out, "%" PRIu64 " pJ\n", energy.pj);
  see(context, "report", vinci_result_write_text(result, context->out, &diag), &diag);
  see(context, "folder", vinci_result_write_folder(result, context->folder, &diag), &diag);
  vinci_result_free(result);
}

static void read_traces(struct context *context) {
  static const char *const names[] = {"traces/examples/add1_tile2048.csv",
                                      "tests/mutate/mixed_atomic.csv", "tests/check/unit_flag.csv",
                                      "tests/fuzz/corpus/bad_quote.csv"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = NULL;
    enum vinci_status status = vinci_trace_load(source(names[i]), context->soc, &trace, &diag);
    see(context, names[i], status, &diag);
    if (trace)
      run(context, trace, VINCI_MEMORY_CYCLE);
    vinci_trace_free(trace);
  }
}

static bool see_tiling(void *context, const struct vinci_tiling *tiling) {
  fprintf(context, "%s %" PRIu64 "\n", tiling->args, tiling->total_cycles);
  return true;
}

static void lower_operators(struct context *context) {
  static const char *const product[] = {"m=96", "k=128", "n=80"}, *const rows[] = {"shape=17x260"};
  static const char *const image[] = {"n=1", "c=16", "h=14", "w=14", "k=32", "kernel=3x3"};
  static const struct {
    const char *op;
    const char *const *args;
    size_t count;
  } asked[] = {{"matmul", product, 3},
               {"softmax", rows, 1},
               {"conv2d", image, 6},
               {"gelu", rows, 1},
               {"matmul", rows, 1}};
  for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = NULL;
    see(context, asked[i].op,
        vinci_compile(context->soc, asked[i].op, asked[i].args, asked[i].count, &trace, &diag),
        &diag);
    if (!trace)
      continue;
    see(context, "text", vinci_trace_write(trace, context->out, &diag), &diag);
    run(context, trace, i % 2 ? VINCI_MEMORY_AUTO : VINCI_MEMORY_CYCLE);
    run(context, trace, VINCI_MEMORY_FLAT);
    vinci_trace_free(context->trace);
    context->trace = trace; /* the last one, for the next */
  }
  struct vinci_diag diag = {0};
  see(context, "tilings",
      vinci_op_tilings(context->soc, "matmul", product, 3, see_tiling, context->out, &diag), &diag);
}

static void check(struct context *context) {
  static const char *const names[] = {"tests/check/exchange.csv", "tests/check/tail.csv"};
  for (size_t i = 0; i < 3; i++) {
    struct vinci_diag diag = {0};
    vinci_trace *trace = i == 2 ? context->trace : NULL;
    vinci_findings *findings = NULL;
    if (i < 2)
      see(context, names[i], vinci_trace_load(source(names[i]), context->soc, &trace, &diag),
          &diag);
    if (!trace)
      continue;
    see(context, "check", vinci_check(context->soc, trace, NULL, &findings, &diag), &diag);
    if (findings)
      see(context, "json", vinci_findings_write_json(findings, context->out, &diag), &diag);
    vinci_findings_free(findings);
    if (i < 2)
      vinci_trace_free(trace);
  }
}

static void compute(struct context *context, const vinci_trace *trace) {
  struct vinci_diag diag = {0};
  vinci_values *values = NULL;
  struct vinci_tensor tensor;
  enum vinci_status status = vinci_values_create(context->soc, trace, &values, &diag);
  if (status == VINCI_OK) {
    vinci_values_fill(values, 7);
    status = vinci_values_run(values, NULL, NULL, &diag);
  }
  see(context, "values", status, &diag);
  for (size_t i = 0; status == VINCI_OK && i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor)) {
      uint64_t sum = 0;
      for (uint64_t byte = 0; byte < tensor.bytes; byte++)
        sum = sum * 31 + ((const unsigned char *)tensor.data)[byte];
      fprintf(context->out, "%s %" PRIu64 "\n", tensor.name, sum);
      char path[120];
      snprintf(path, sizeof path, "%s/%s.npy", context->folder, tensor.name);
      see(context, "save", vinci_values_save(values, tensor.name, path, &diag), &diag);
    }
  vinci_values_free(values);
}

static void compute_values(struct context *context) {
  if (context->trace)
    compute(context, context->trace);
}

/* Compiled kernels take turns: signal handlers belong to the process. */
static const char *kernels; /* a library; NULL: there is no compiler */
static void run_kernel(struct context *context) {
  static const char *const args[] = {"name=x,dtype=fp32,shape=32x64,io=in",
                                     "name=y,dtype=fp32,shape=32x64,io=out", "value=8"};
  const struct vinci_kernel kernel = {.struct_size = sizeof kernel,
                                      .library = kernels,
                                      .name = "softmax",
                                      .blocks = 4,
                                      .args = args,
                                      .arg_count = 3};
  struct vinci_diag diag = {0};
  vinci_trace *trace = NULL;
  if (!kernels)
    return;
  see(context, "kernel", vinci_kernel_load(context->soc, &kernel, &trace, &diag), &diag);
  if (!trace)
    return;
  run(context, trace, VINCI_MEMORY_FLAT);
  compute(context, trace);
  vinci_trace_free(trace);
}

static bool see_node(void *context, const struct vinci_net_node *node) {
  fprintf(context, "%s %s %" PRIu64 "\n", node->name, node->from, node->duration_ps);
  return true;
}

static const char layers[] = "graph,version=1,name=layers\n"
                             "tensor,name=x,dtype=fp16,shape=32x64,io=in\n"
                             "tensor,name=w,dtype=fp16,shape=64x128,io=weight\n"
                             "tensor,name=h,dtype=fp16,shape=32x128\n"
                             "tensor,name=y,dtype=fp16,shape=32x128,io=out\n"
                             "kernel,name=fc,op=matmul,in=x w,out=h,args=m=32 k=64 n=128\n"
                             "kernel,name=act,op=gelu,in=h,out=y,args=shape=32x128\n";

static void run_network(struct context *context) {
  struct vinci_diag diag = {0}, cuts_diag = {0};
  struct vinci_net_result result;
  struct vinci_net_cuts cuts;
  struct vinci_net_options options = {
      .struct_size = sizeof options, .host = "eager", .results = context->folder};
  see(context, "network",
      vinci_net_run(context->soc, "layers", layers, sizeof layers - 1, &options, see_node,
                    context->out, &result, &diag),
      &diag);
  fprintf(context->out, "%" PRIu64 " %" PRIu64 "\n", result.end_ps, result.hbm_bytes);
  options.results = NULL;
  see(context, "cuts",
      vinci_net_cuts(context->soc, "layers", layers, sizeof layers - 1, &options, NULL, NULL, &cuts,
                     NULL, NULL, &cuts_diag),
      &cuts_diag);
}

static void read_models(struct context *context) {
  static const char *const names[] = {"convolutions", "recurrent", "constants", "shapes"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct vinci_diag diag = {0};
    char name[64], *text = NULL;
    size_t length = 0;
    snprintf(name, sizeof name, "tests/fuzz/corpus-onnx/%s.onnx", names[i]);
    see(context, name, vinci_net_import(source(name), NULL, 0, NULL, &text, &length, &diag), &diag);
    if (text)
      fwrite(text, 1, length, context->out);
    free(text);
  }
}

static bool see_rank(void *context, const struct vinci_group_rank *rank) {
  fprintf(context, "%" PRIu64 " %" PRIu64 "\n", rank->computing_ps, rank->exposed_ps);
  return true;
}

static void run_groups(struct context *context) {
  static const char job[] = "job,version=1,ranks=4\ngroup,name=all,ranks=0-3\n"
                            "program,ranks=0-3\nwork,us=1000\n"
                            "collective,op=all_reduce,group=all,bytes=1048576\n";
  static const char step[] = "name,backward_us,gradient_bytes\nc,100,4194304\nb,200,1048576\n";
  struct vinci_diag diag = {0}, buckets_diag = {0};
  struct vinci_group_result result = {0};
  const struct vinci_group_options options = {.struct_size = sizeof options,
                                              .system = "atlas_a2_910b4"};
  const struct vinci_buckets_options few = {
      .struct_size = sizeof few, .system = "atlas_a2_910b4", .ranks = 4};
  vinci_buckets *buckets = NULL;
  see(context, "job",
      vinci_group_run("job", job, sizeof job - 1, &options, see_rank, context->out, &result, &diag),
      &diag);
  fprintf(context->out, "%" PRIu64 " %" PRIu64 "\n", result.end_ps, result.moved_bytes);
  see(context, "buckets",
      vinci_buckets_open("step", step, sizeof step - 1, &few, &buckets, &buckets_diag),
      &buckets_diag);
  if (buckets)
    fputs(vinci_buckets_job(buckets, vinci_buckets_result(buckets)->best), context->out);
  vinci_buckets_free(buckets);
}

static bool see_kind(void *context, const struct vinci_ops_kind *kind) {
  fprintf(context, "%s %zu %zu %s\n", kind->type, kind->rows, kind->missing_rows, kind->reason);
  return true;
}

static void read_lists(struct context *context) {
  static const char *const names[] = {"calibration", "kernel_details", "types", "convolutions"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct vinci_diag diag = {0};
    char name[64];
    snprintf(name, sizeof name, "tests/fuzz/corpus-ops/%s.csv", names[i]);
    see(context, name, vinci_ops_kinds(context->soc, source(name), see_kind, context->out, &diag),
        &diag);
  }
}

static void search(struct context *context) {
  static const char *const args[] = {"shape=64x512"};
  static const char *const other[] = {"shape=100x30"};
  const struct vinci_tune_options options = {
      .struct_size = sizeof options, .evaluations = 8, .jobs = 2, .memory = VINCI_MEMORY_FLAT};
  const struct vinci_evaluate_options two = {.struct_size = sizeof two, .jobs = 2};
  struct vinci_evaluation list[] = {{.op = "softmax", .args = args, .arg_count = 1},
                                    {.op = "add", .args = other, .arg_count = 1},
                                    {.op = "nothing"}};
  struct vinci_diag diag = {0}, list_diag = {0};
  struct vinci_tuned tuned = {0};
  see(context, "search", vinci_tune(context->soc, "softmax", args, 1, &options, &tuned, &diag),
      &diag);
  fprintf(context->out, "%s %" PRIu64 "\n", tuned.schedule, tuned.cycles);
  see(context, "evaluate", vinci_evaluate(context->soc, list, 3, &two, &list_diag), &list_diag);
  for (size_t i = 0; i < 3; i++)
    fprintf(context->out, "%d %s %" PRIu64 "\n", (int)list[i].status, list[i].text,
            list[i].total_cycles);
}

static void (*const steps[])(struct context *) = {
    load_chip,   read_traces, lower_operators, check,  compute_values, run_kernel,
    run_network, read_models, run_groups,      search, read_lists,
};
enum { STEPS = sizeof steps / sizeof *steps };

/* ---- two threads, each with two contexts in turns ---- */

struct seen {
  char *text;
  size_t length;
};

struct job {
  unsigned contexts; /* bits: which */
  struct seen *seen; /* of all contexts */
};

static void *work(void *given) {
  static const char *const chips[CONTEXTS] = {"Ascend910B4", "Ascend310P3", "Ascend910B1",
                                              "Ascend950PR_9589"};
  static const char *const sets[CONTEXTS] = {"l2.size=48MiB", "hbm.bandwidth_scale=0.5",
                                             "l2.size=96MiB", "clock.core=1.5GHz"};
  const struct job *job = given;
  struct context context[CONTEXTS] = {0};
  for (size_t i = 0; i < CONTEXTS; i++) {
    context[i] = (struct context){.chip = chips[i], .set = sets[i]};
    snprintf(context[i].folder, sizeof context[i].folder, "test_contexts.out/%zu", i);
    if (job->contexts & 1U << i)
      context[i].out = open_memstream(&job->seen[i].text, &job->seen[i].length);
  }
  for (size_t step = 0; step < STEPS; step++)
    for (size_t i = 0; i < CONTEXTS; i++)
      if (context[i].out && (step == 0 || context[i].soc))
        steps[step](&context[i]);
  for (size_t i = 0; i < CONTEXTS; i++) {
    if (!context[i].out)
      continue;
    vinci_trace_free(context[i].trace);
    vinci_soc_free(context[i].soc);
    fclose(context[i].out);
  }
  return NULL;
}

static void contexts_of_two_threads_are_alone(void **state) {
  static struct seen beside[CONTEXTS], alone[CONTEXTS];
  struct job jobs[THREADS];
  pthread_t thread[THREADS];
  (void)state;
  for (unsigned i = 0; i < THREADS; i++) {
    jobs[i] = (struct job){5U << i, beside};
    assert_int_equal(pthread_create(&thread[i], NULL, work, &jobs[i]), 0);
  }
  for (unsigned i = 0; i < THREADS; i++)
    assert_int_equal(pthread_join(thread[i], NULL), 0);
  for (unsigned i = 0; i < CONTEXTS; i++) {
    struct job job = {1U << i, alone};
    work(&job);
    assert_string_equal(beside[i].text, alone[i].text);
    assert_non_null(strstr(alone[i].text, "run: 0"));
    assert_non_null(strstr(alone[i].text, "network: 0"));
    assert_true(!kernels || i > 0 || strstr(alone[0].text, "kernel: 0"));
    free(beside[i].text);
    free(alone[i].text);
  }
}

/* The thread sanitizer does not know stacks that change as those of kernels do. */
static void compile_kernels(void) {
  const char *vinci = getenv("VINCI"), *instrument = getenv("VINCI_INSTRUMENT");
  char command[9000];
  if (!vinci || (instrument && *instrument))
    return;
  snprintf(command, sizeof command, "%s cc --kernel-only %s -o test_contexts.out/softmax.so >&2",
           vinci, source("traces/examples/source/softmax.cpp"));
  if (system(command) == 0)
    kernels = "test_contexts.out/softmax.so";
  else
    puts("# no kernels: vinci cc cannot compile here");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_of_two_threads_are_alone)};
  if (system("rm -rf test_contexts.out") != 0 || mkdir("test_contexts.out", 0777) != 0)
    return EXIT_FAILURE;
  compile_kernels();
  int failed = cmocka_run_group_tests_name("contexts", tests, NULL, NULL);
  return failed ? failed : system("rm -rf test_contexts.out");
}
