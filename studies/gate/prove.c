/* SPDX-License-Identifier: Apache-2.0 */
/* What a point has to show beside its numbers: a program without findings, and the right values. */
#include <string.h>

#include "core/base/diag.h"
#include "studies/gate/gate.h"

static enum vinci_status check_program(const vinci_soc *soc, const vinci_trace *trace,
                                       struct vinci_diag *diag) {
  vinci_findings *findings = NULL;
  enum vinci_status status = vinci_check(soc, trace, NULL, &findings, diag);
  vinci_findings_free(findings);
  return status;
}

/* Inputs that the suite gives, then those of the trace, then what fills the rest. */
static enum vinci_status give_inputs(const struct gate_proof *proof, vinci_values *values,
                                     struct vinci_diag *diag) {
  struct vinci_tensor tensor;
  enum vinci_status status = VINCI_OK;
  for (size_t i = 0; status == VINCI_OK && i < proof->input_count; i++)
    status = vinci_values_load(values, proof->inputs[i].name, proof->inputs[i].path, diag);
  if (status == VINCI_OK)
    status = vinci_values_load_files(values, diag);
  if (proof->fills && proof->seed > 0)
    vinci_values_fill(values, proof->seed);
  else if (proof->fills)
    vinci_values_zero(values);
  for (size_t i = 0; status == VINCI_OK && !proof->fills && i < vinci_values_count(values); i++)
    if (vinci_values_tensor(values, i, &tensor) && tensor.input && !tensor.loaded) {
      status = diag_error(diag, VINCI_E_USAGE, "input tensor \"%s\" has no values", tensor.name);
      diag_hint(diag, "inputs = { %s = \"FILE.npy\" }, or fill = \"zero\" or \"random:SEED\"",
                tensor.name);
    }
  return status;
}

static enum vinci_status compare_values(const struct gate_proof *proof, const vinci_soc *soc,
                                        const vinci_trace *trace, struct vinci_diag *diag) {
  vinci_values *values = NULL;
  struct vinci_comparison comparison;
  enum vinci_status status = vinci_values_create(soc, trace, &values, diag);
  if (status == VINCI_OK)
    status = give_inputs(proof, values, diag);
  if (status == VINCI_OK)
    status = vinci_values_run(values, NULL, NULL, diag);
  for (size_t i = 0; status == VINCI_OK && i < proof->expected_count; i++)
    status = vinci_values_expect(values, proof->expected[i].name, proof->expected[i].path,
                                 proof->atol, proof->rtol, &comparison, diag);
  vinci_values_free(values);
  return status;
}

enum vinci_status gate_prove(const struct gate_point *point, const vinci_soc *soc,
                             const vinci_trace *trace, struct vinci_diag *diag) {
  enum vinci_status status = point->proof.check ? check_program(soc, trace, diag) : VINCI_OK;
  if (status == VINCI_OK && point->proof.expected_count > 0)
    status = compare_values(&point->proof, soc, trace, diag);
  return status;
}
