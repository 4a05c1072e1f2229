-- SPDX-License-Identifier: Apache-2.0
-- The controller all descriptions start from, and the mappings of 4 x 4 banks with 32
-- bursts of a row.
return memory {
  name = "frfcfs",
  abstract = true,
  description = "FR-FCFS controller with protected row hits",

  controller = {
    read_queue = num(32, "count", "RAM", "documented", "default of the controller"),
    write_queue = num(32, "count", "RAM", "documented", "default of the controller"),
    drain_high = num(0.8, "ratio", "RAM", "documented", "default of the controller"),
    drain_low = num(0.2, "ratio", "RAM", "documented", "default of the controller"),
    protect_row_hits = num(1, "count", "RAM", "documented", "its FR-FCFS-RowHit scheduler; 0 is its plain FR-FCFS"),
    row_hit_cap = num(0, "count", "RAM", "documented", "it has none"),
  },
}
