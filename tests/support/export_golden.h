/* SPDX-License-Identifier: Apache-2.0 */
/* The summary and the report that tests/traces/test_export.c expects. */
#ifndef VINCI_TESTS_SUPPORT_EXPORT_GOLDEN_H
#define VINCI_TESTS_SUPPORT_EXPORT_GOLDEN_H

/*
 * Words between $: what expands from STALL_LIST. The first reason has the value that is named, all
 * others are 0. `reasons` expands from causes.def for a pipe: the last cause has the value.
 */
/* clang-format off */
static const char *const golden_summary[] = {
    "{",
    "  \"schema\": 1,",
    "  \"soc\": \"AscendTest\",",
    "  \"config_digest\": \"0000000000000abc\",",
    "  \"input_digest\": \"fedcba9876543210\",",
    "  \"kernel\": \"add_custom\",",
    "  \"blocks\": 2,",
    "  \"total_cycles\": 16500,",
    "  \"duration_us\": 10.0,",
    "  \"bound\": \"latency\",",
    "  \"expected_error\": {\"class\": \"\", \"rows\": 0, \"median\": 0.0, \"p90\": 0.0, "
    "\"outside\": \"a trace names no operator\"},",
    "  \"partial\": false,",
    "  \"waits_left_out\": false,",
    "  \"cores\": [",
    "    {",
    "      \"name\": \"core0.veccore0\",",
    "      \"clock_hz\": 1650000000,",
    "      \"total_cycles\": 16500,",
    "      \"pipes\": {",
    "        \"S\": {\"busy_cycles\": 1000, \"stall_cycles\": {$stalls 200$}, \"idle_cycles\": 15300, "
    "\"instructions\": 64, \"cause_cycles\": {$reasons S 1000$}},",
    "        \"V\": {\"busy_cycles\": 9900, \"stall_cycles\": {$stalls 3300$}, \"idle_cycles\": 3300, "
    "\"instructions\": 16, \"cause_cycles\": {$reasons V 9900$}},",
    "        \"M\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons M 0$}},",
    "        \"MTE1\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons MTE1 0$}},",
    "        \"MTE2\": {\"busy_cycles\": 6600, \"stall_cycles\": {$stalls 1650$}, \"idle_cycles\": 8250, "
    "\"instructions\": 32, \"cause_cycles\": {$reasons MTE2 6600$}},",
    "        \"MTE3\": {\"busy_cycles\": 3300, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 13200, "
    "\"instructions\": 16, \"cause_cycles\": {$reasons MTE3 3300$}},",
    "        \"FIX\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons FIX 0$}}",
    "      }",
    "    }",
    "  ],",
    "  \"pipes\": {",
    "    \"S\": {\"busy_cycles\": 1000, \"stall_cycles\": {$stalls 200$}, \"idle_cycles\": 15300, "
    "\"instructions\": 64, \"cause_cycles\": {$reasons S 1000$}, \"total_cycles\": 16500, \"utilization\": 0.060606},",
    "    \"V\": {\"busy_cycles\": 9900, \"stall_cycles\": {$stalls 3300$}, \"idle_cycles\": 3300, "
    "\"instructions\": 16, \"cause_cycles\": {$reasons V 9900$}, \"total_cycles\": 16500, \"utilization\": 0.6},",
    "    \"M\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons M 0$}, \"total_cycles\": 16500, \"utilization\": 0.0},",
    "    \"MTE1\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons MTE1 0$}, \"total_cycles\": 16500, \"utilization\": 0.0},",
    "    \"MTE2\": {\"busy_cycles\": 6600, \"stall_cycles\": {$stalls 1650$}, \"idle_cycles\": 8250, "
    "\"instructions\": 32, \"cause_cycles\": {$reasons MTE2 6600$}, \"total_cycles\": 16500, \"utilization\": 0.4},",
    "    \"MTE3\": {\"busy_cycles\": 3300, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 13200, "
    "\"instructions\": 16, \"cause_cycles\": {$reasons MTE3 3300$}, \"total_cycles\": 16500, \"utilization\": 0.2},",
    "    \"FIX\": {\"busy_cycles\": 0, \"stall_cycles\": {$stalls 0$}, \"idle_cycles\": 16500, "
    "\"instructions\": 0, \"cause_cycles\": {$reasons FIX 0$}, \"total_cycles\": 16500, \"utilization\": 0.0}",
    "  },",
    "  \"bytes\": {",
    "    \"GM->L1\": 0,",
    "    \"GM->UB\": 1048576,",
    "    \"GM->L0A\": 0,",
    "    \"GM->L0B\": 0,",
    "    \"L1->L0A\": 0,",
    "    \"L1->L0B\": 0,",
    "    \"L1->L0A_MX\": 0,",
    "    \"L1->L0B_MX\": 0,",
    "    \"L1->BT\": 0,",
    "    \"L1->FB\": 0,",
    "    \"L1->UB\": 0,",
    "    \"L1->GM\": 0,",
    "    \"UB->GM\": 524288,",
    "    \"UB->L1\": 0,",
    "    \"UB->UB\": 0,",
    "    \"L0C->GM\": 0,",
    "    \"L0C->L1\": 0,",
    "    \"L0C->UB\": 0",
    "  },",
    "  \"l2\": {\"start\": \"empty\", \"start_owed_bytes\": 0, \"read_hits\": 4096, \"read_misses\": "
    "12288, \"write_hits\": 8192, \"write_misses\": 0, \"writebacks\": 100, "
    "\"hit_rate\": 0.5},",
    "  \"hbm\": {",
    "    \"read_bytes\": 1572864,",
    "    \"write_bytes\": 12800,",
    "    \"peak_fraction\": 0.198208,",
    "    \"row_hits\": 0,",
    "    \"row_misses\": 0,",
    "    \"channels\": [",
    "      {\"index\": 1, \"read_bytes\": 1572864, \"write_bytes\": 12800, \"row_hits\": 0, \"row_misses\": 0}",
    "    ]",
    "  },",
    "  \"noc\": {",
    "    \"max_link_utilization\": 0.1234,",
    "    \"past_model\": false,",
    "    \"links\": [",
    "      {\"way\": \"answers\", \"from\": 3, \"to\": 2, \"utilization\": 0.1234}",
    "    ]",
    "  },",
    "", /* the part of the host, which names the build */
    "}",
};

static const char *const golden_report[] = {
    "add_custom on AscendTest: 2 blocks, 10.000 us, 16500 cycles, latency bound",
    "",
    "Duration  10.000 us from launch to last completion, launch overhead included",
    "Expected  not calibrated: a trace names no operator",
    "Cycles    16500 at 1650 MHz core clock",
    "Work ran  on 2 of 3 AIV cores",
    "Bound     latency: nothing is busy 80 % of the time; pipe V of the AIV cores is busy 60.0 % of",
    "          the time, otherwise it mostly waits for flags of other pipes",
    "",
    "Where the time went, summed over the 2 AIV cores with work",
    "  pipe    busy$heads$    idle  instructions  what it does",
    "  S      6.1 %$cells 1.2 %$  92.7 %           128  scalar unit: control flow, issue",
    "  V     60.0 %$cells 20.0 %$  20.0 %            32  vector unit on UB",
    "  MTE2  40.0 %$cells 10.0 %$  50.0 %            64  GM to on-chip buffers",
    "  MTE3  20.0 %$cells 0.0 %$  80.0 %            32  on-chip buffers to GM",
    "",
    "  busy          at least one instruction in flight",
    "$legend$",
    "  idle          nothing to do",
    "",
    "What busy cycles were spent on (vinci run --counters explains the words)",
    "  AIV  S     unfinished 100.0 %",
    "  AIV  V     unfinished 100.0 %",
    "  AIV  MTE2  unfinished 100.0 %",
    "  AIV  MTE3  unfinished 100.0 %",
    "",
    "Cores with work: share of the run with a block, and busy share of each pipe",
    "  core            blocks  active      S       V  M  MTE1    MTE2    MTE3  FIX",
    "  core0.veccore0       1  80.0 %  6.1 %  60.0 %  -     -  40.0 %  20.0 %    -",
    "  core0.veccore1       1  80.0 %  6.1 %  60.0 %  -     -  40.0 %  20.0 %    -",
    "",
    "Bytes moved by all cores, and the bandwidth that is over the whole run (1 GB = 10^9 bytes)",
    "  path               bytes  instructions   GB/s  of peak",
    "  GM->UB  2.0 MiB  2097152            64  209.7   52.4 %",
    "  UB->GM  1.0 MiB  1048576            32  104.9        -",
    "",
    "L2        16384 reads (25.0 % hits), 8192 writes (100.0 % hits), 100 write-backs, "
    "in units of 128 bytes",
    "HBM       read 1.5 MiB, written 12.5 KiB: 158.6 GB/s, 19.8 % of the 800.0 GB/s peak",
    "Network   busiest link used 12.3 % of the time",
    "",
    "Hardware  1 of 2 numbers of AscendTest are assumed, not published or measured (vinci soc show AscendTest)",
};
/* clang-format on */

#endif
