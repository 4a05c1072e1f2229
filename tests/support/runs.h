/* SPDX-License-Identifier: Apache-2.0 */
/* Short traces as text, run on a SoC of the fixture, with the flat memory model. */
#ifndef VINCI_TESTS_SUPPORT_RUNS_H
#define VINCI_TESTS_SUPPORT_RUNS_H

#include "core/result/result.h"
#include "tests/support/fixture.h"

#define HEAD(blocks) "trace,version=1\nkernel,name=k,arch=dav-c220,blocks=" #blocks "\n"
#define TENSORS                                                                                    \
  "tensor,name=x,dtype=fp16,shape=1048576,io=in\ntensor,name=y,dtype=fp16,shape=1048576,io=out\n"
#define AIV "stream,core=AIV\n"
#define VADD(repeat) "vadd,dst=0,src0=8192,src1=16384,repeat=" #repeat ",type=fp16\n"

struct run {
  enum vinci_status status;
  struct vinci_diag diag;
  vinci_result *result; /* freed by the caller */
};

/* Parses a trace that must be right. */
vinci_trace *runs_parse(const char *text, const vinci_soc *soc);
/* The trace of an operator: "add shape=64"; fails the test when there is none. */
vinci_trace *runs_compile(const vinci_soc *soc, const char *request);
struct run runs_with(const vinci_soc *soc, const char *text,
                     const struct vinci_run_options *options);
/* On fixture_soc(). */
struct run runs_text(const char *text);
/* Cycles of a run that must succeed. */
uint64_t runs_cycles(const vinci_soc *soc, const char *text);

#endif
