// SPDX-License-Identifier: Apache-2.0
// Kernels from text at run time (aclrtc). `vinci cc` compiles them; $VINCI names the program, $VINCI_HEADERS the open
// headers of Ascend C. Names, numbers and meanings are those of the public documentation.
#ifndef VINCI_ACL_RT_COMPILE_H
#define VINCI_ACL_RT_COMPILE_H

#include "acl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef void *aclrtcProg;

enum {
  ACL_ERROR_RTC_INVALID_PROG = 176000,
  ACL_ERROR_RTC_INVALID_INPUT = 176001,
  ACL_ERROR_RTC_INVALID_OPTION = 176002,
  ACL_ERROR_RTC_COMPILATION = 176003
};

// headers: texts that the source includes by includeNames.
aclError aclrtcCreateProg(aclrtcProg *prog, const char *src, const char *name, int numHeaders, const char **headers,
                          const char **includeNames);
aclError aclrtcDestroyProg(aclrtcProg *prog);
// A kernel by an expression, "space::kernel<float>", before the compilation. Kernels of the outermost scope that are
// no templates need none.
aclError aclrtcAddNameExpr(aclrtcProg prog, const char *nameExpression);
// options: those of `vinci cc`.
aclError aclrtcCompileProg(aclrtcProg prog, int numOptions, const char **options);
aclError aclrtcGetLoweredName(aclrtcProg prog, const char *nameExpression, const char **loweredName);
aclError aclrtcGetBinDataSize(aclrtcProg prog, size_t *binDataSizeRet);
aclError aclrtcGetBinData(aclrtcProg prog, char *binData);
aclError aclrtcGetCompileLogSize(aclrtcProg prog, size_t *logSizeRet);
aclError aclrtcGetCompileLog(aclrtcProg prog, char *log);

#ifdef __cplusplus
}
#endif

#endif
