/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of whole runs with values: instructions per CPU second of this process beside those of
 * the run with time alone, and the matrix product. The best of several tries counts.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/diag.h"
#include "core/values.h"

enum { TRIES = 3, BLOCKS = 8, TURNS = 10000, TURN_INSTRUCTIONS = 13 };

/* A tile of 2048 halves a turn, as in the add examples. */
static const char trace_text[] = "trace,version=1\n"
                                 "kernel,name=bench,arch=dav-c220,blocks=8\n"
                                 "tensor,name=x,dtype=fp16,shape=16384,io=in\n"
                                 "tensor,name=y,dtype=fp16,shape=16384,io=out\n"
                                 "stream,core=AIV\n"
                                 "set_flag,src=V,dst=MTE2,id=0\n"
                                 "set_flag,src=MTE3,dst=V,id=0\n"
                                 "loop,i,10000\n"
                                 "wait_flag,src=V,dst=MTE2,id=0\n"
                                 "copy_gm_to_ubuf,dst=0,src=x+blk*4096,len_burst=128\n"
                                 "copy_gm_to_ubuf,dst=4096,src=x+blk*4096,len_burst=128\n"
                                 "set_flag,src=MTE2,dst=V,id=0\n"
                                 "wait_flag,src=MTE2,dst=V,id=0\n"
                                 "wait_flag,src=MTE3,dst=V,id=0\n"
                                 "vadd,dst=8192,src0=0,src1=4096,repeat=16,type=fp16\n"
                                 "vmuls,dst=8192,src=8192,scalar=14336,repeat=16,type=fp16\n"
                                 "set_flag,src=V,dst=MTE2,id=0\n"
                                 "set_flag,src=V,dst=MTE3,id=0\n"
                                 "wait_flag,src=V,dst=MTE3,id=0\n"
                                 "copy_ubuf_to_gm,dst=y+blk*4096,src=8192,len_burst=128\n"
                                 "set_flag,src=MTE3,dst=V,id=0\n"
                                 "endloop\n"
                                 "wait_flag,src=V,dst=MTE2,id=0\n"
                                 "wait_flag,src=MTE3,dst=V,id=0\n";

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void must(enum vinci_status status, const struct vinci_diag *diag) {
  if (status == VINCI_OK)
    return;
  vinci_diag_print(diag, stderr);
  exit(EXIT_FAILURE);
}

/* One run with time, and one with values if asked for, in CPU seconds. */
static double seconds(const vinci_soc *soc, const vinci_trace *trace, bool keeps_values) {
  struct vinci_diag diag = {0};
  vinci_result *result;
  vinci_values *values;
  double start = cpu_seconds();
  must(vinci_run(soc, trace, NULL, &result, &diag), &diag);
  vinci_result_free(result);
  if (!keeps_values)
    return cpu_seconds() - start;
  must(vinci_values_create(soc, trace, &values, &diag), &diag);
  vinci_values_fill(values, 1);
  must(vinci_values_run(values, NULL, NULL, &diag), &diag);
  vinci_values_free(values);
  return cpu_seconds() - start;
}

static double best_seconds(const vinci_soc *soc, const vinci_trace *trace, bool keeps_values) {
  double best = seconds(soc, trace, keeps_values);
  for (int i = 1; i < TRIES; i++) {
    double now = seconds(soc, trace, keeps_values);
    best = now < best ? now : best;
  }
  return best;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s matmul_2048_fp16.csv\n", argv[0]);
    return 2;
  }
  struct vinci_diag diag = {0};
  vinci_soc *soc;
  vinci_trace *stream, *product;
  must(vinci_soc_load("Ascend910B1", NULL, &soc, &diag), &diag);
  must(vinci_trace_parse("bench", trace_text, strlen(trace_text), soc, &stream, &diag), &diag);
  must(vinci_trace_load(argv[1], soc, &product, &diag), &diag);
  double instructions = (double)BLOCKS * TURNS * TURN_INSTRUCTIONS / 1e6;
  double without = instructions / best_seconds(soc, stream, false);
  double with = instructions / best_seconds(soc, stream, true);
  double matmul = best_seconds(soc, product, true);
  printf("vector kernel, timing only: %.2f M instructions per CPU s\n", without);
  printf("the same with values: %.2f M instructions per CPU s, target 2.1: %s\n", with,
         with >= 2.1 ? "met" : "missed");
  printf("matmul 2048x2048x2048 fp16 with values, 24 cores: %.2f CPU s, target 8: %s\n", matmul,
         matmul <= 8 ? "met" : "missed");
  vinci_trace_free(stream);
  vinci_trace_free(product);
  vinci_soc_free(soc);
  return with >= 2.1 && matmul <= 8 ? EXIT_SUCCESS : EXIT_FAILURE;
}
