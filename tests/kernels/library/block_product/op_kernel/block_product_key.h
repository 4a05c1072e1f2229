// SPDX-License-Identifier: Apache-2.0
#ifndef BLOCK_PRODUCT_KEY_H
#define BLOCK_PRODUCT_KEY_H
#include "tiling/template_argument.h"

ASCENDC_TPL_ARGS_DECL(BlockProduct, ASCENDC_TPL_UINT_DECL(depth, ASCENDC_TPL_8_BW, ASCENDC_TPL_UI_LIST, 32, 64),
                      ASCENDC_TPL_DATATYPE_DECL(result, C_DT_FLOAT16, C_DT_FLOAT, ASCENDC_TPL_OUTPUT(0)));
ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_UINT_SEL(depth, ASCENDC_TPL_UI_LIST, 32, 64),
                                     ASCENDC_TPL_DATATYPE_SEL(result, C_DT_FLOAT16, C_DT_FLOAT)));

// Read by both sides: host code writes into it where it lies.
struct BlockProductTiling {
  uint32_t m, k, n;
};
#endif
