/* SPDX-License-Identifier: Apache-2.0 */
/* A memory built in code. */
#include "tests/support/hbm_specs.h"

struct mem_spec hbm2_spec(void) {
  return (struct mem_spec){
      .name = "hbm2_spec",
      .tck_ps = 1000,
      .pseudo_channels = 1,
      .groups = 4,
      .banks_per_group = 4,
      .rows = 32768,
      .columns = 32,
      .burst_bytes = 32,
      .stack_channels = 16,
      .burst_cycles = 2,
      .cl_cycles = 14,
      .cwl_cycles = 5,
      .rcd_read_cycles = 14,
      .rcd_write_cycles = 12,
      .rp_cycles = 14,
      .ras_cycles = 34,
      .rc_cycles = 48,
      .ccd_s_cycles = 2,
      .ccd_l_cycles = 4,
      .rrd_s_cycles = 4,
      .rrd_l_cycles = 4,
      .faw_cycles = 15,
      .wtr_s_cycles = 6,
      .wtr_l_cycles = 8,
      .rtw_cycles = 13,
      .rtp_cycles = 5,
      .wr_cycles = 16,
      .refi_cycles = 3900,
      .rfc_cycles = 260,
      .act_bus_cycles = 2,
      .read_queue = 32,
      .write_queue = 32,
      .drain_high = 800000,
      .drain_low = 200000,
      .protect_row_hits = 1,
  };
}
