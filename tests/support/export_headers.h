/* SPDX-License-Identifier: Apache-2.0 */
/* First lines of the tables of `msprof op` on A2 and A3, 950 and 310P (msopprof). */
#ifndef VINCI_TESTS_SUPPORT_EXPORT_HEADERS_H
#define VINCI_TESTS_SUPPORT_EXPORT_HEADERS_H

/* clang-format off */
static const char header_pipe_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_time(us),aic_cube_ratio,"
    "aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,aic_mte3_time(us),"
    "aic_mte3_ratio,aic_mte3_active_bw(GB/s),aic_fixpipe_time(us),aic_fixpipe_ratio,"
    "aic_fixpipe_active_bw(GB/s),aic_icache_miss_rate,aic_scalar_time(us),aic_scalar_ratio,"
    "aic_scalar_single_time(us),aic_scalar_dual_time(us),aic_scalar_mte1_stall_time(us),"
    "aic_scalar_mte2_stall_time(us),aic_scalar_mte3_stall_time(us),aic_scalar_cube_stall_time(us),"
    "aic_scalar_wait_ib_time(us),aic_scalar_wait_time(us),aiv_time(us),aiv_total_cycles,"
    "aiv_vec_time(us),aiv_vec_ratio,aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte2_active_bw(GB/s),"
    "aiv_mte3_time(us),aiv_mte3_ratio,aiv_mte3_active_bw(GB/s),aiv_icache_miss_rate,"
    "aiv_scalar_time(us),aiv_scalar_ratio,aiv_scalar_single_time(us),aiv_scalar_dual_time(us),"
    "aiv_scalar_mte2_stall_time(us),aiv_scalar_mte3_stall_time(us),aiv_scalar_stall_by_ub_time(us),"
    "aiv_scalar_vector_stall_time(us),aiv_scalar_wait_ib_time(us),aiv_scalar_wait_time(us)";

static const char header_memory_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_l1_read_bw(GB/s),"
    "aic_l1_write_bw(GB/s),aic_main_mem_read_bw(GB/s),aic_main_mem_write_bw(GB/s),"
    "aic_mte1_instructions,aic_mte1_ratio,aic_mte2_instructions,aic_mte2_ratio,"
    "aic_mte3_instructions,aic_mte3_ratio,aiv_time(us),aiv_total_cycles,aiv_ub_to_gm_bw(GB/s),"
    "aiv_gm_to_ub_bw(GB/s),aiv_main_mem_read_bw(GB/s),aiv_main_mem_write_bw(GB/s),"
    "aiv_mte2_instructions,aiv_mte2_ratio,aiv_mte3_instructions,aiv_mte3_ratio,"
    "read_main_memory_datas(KB),write_main_memory_datas(KB),GM_to_L1_datas(KB),"
    "GM_to_L1_bw_usage_rate(%),L1_to_GM_datas(KB)(estimate),L1_to_GM_bw_usage_rate(%)(estimate),"
    "L0C_to_L1_datas(KB),L0C_to_L1_bw_usage_rate(%),L0C_to_GM_datas(KB),L0C_to_GM_bw_usage_rate(%),"
    "GM_to_UB_datas(KB),GM_to_UB_bw_usage_rate(%),UB_to_GM_datas(KB),UB_to_GM_bw_usage_rate(%)";

static const char header_arithmetic_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_ratio,aic_cube_fp16_ratio,"
    "aic_cube_int8_ratio,aic_cube_fops,aic_cube_total_instr_number,aic_cube_fp_instr_number,"
    "aic_cube_int_instr_number,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aiv_vec_fp32_ratio,"
    "aiv_vec_fp16_ratio,aiv_vec_int32_ratio,aiv_vec_int16_ratio,aiv_vec_misc_ratio,aiv_vec_fops";

static const char header_basic_a2[] =
    "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,"
    "Rated Freq";

static const char header_pipe_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_time(us),aic_cube_ratio,"
    "aic_scalar_time(us),aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,"
    "aic_mte1_active_bw(GB/s),aic_mte2_time(us),aic_mte2_ratio,aic_mte2_active_bw(GB/s),"
    "aic_mte3_time(us),aic_mte3_ratio,aic_mte3_active_bw(GB/s),aic_fixpipe_time(us),"
    "aic_fixpipe_ratio,aic_fixpipe_active_bw(GB/s),aic_icache_miss_rate,aiv_time(us),"
    "aiv_total_cycles,aiv_vec_time(us),aiv_vec_ratio,aiv_scalar_time(us),aiv_scalar_ratio,"
    "aiv_mte2_time(us),aiv_mte2_ratio,aiv_mte2_active_bw(GB/s),aiv_mte3_time(us),aiv_mte3_ratio,"
    "aiv_mte3_active_bw(GB/s),aiv_icache_miss_rate";

static const char header_memory_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_l1_read_bw(GB/s),"
    "aic_l1_write_bw(GB/s),aic_main_mem_read_bw(GB/s),aic_main_mem_write_bw(GB/s),"
    "aic_mte1_instructions,aic_mte1_ratio,aic_mte2_instructions,aic_mte2_ratio,"
    "aic_mte3_instructions,aic_mte3_ratio,aiv_time(us),aiv_total_cycles,aiv_ub_to_gm_bw(GB/s),"
    "aiv_gm_to_ub_bw(GB/s),aiv_main_mem_read_bw(GB/s),aiv_main_mem_write_bw(GB/s),"
    "aiv_mte2_instructions,aiv_mte2_ratio,aiv_mte3_instructions,aiv_mte3_ratio,"
    "read_main_memory_datas(KB),write_main_memory_datas(KB),GM_to_L1_datas(KB),"
    "GM_to_L1_bw_usage_rate(%),L0C_to_L1_datas(KB),L0C_to_L1_bw_usage_rate(%),L0C_to_GM_datas(KB),"
    "L0C_to_GM_bw_usage_rate(%),GM_to_UB_datas(KB),GM_to_UB_bw_usage_rate(%),UB_to_GM_datas(KB),"
    "UB_to_GM_bw_usage_rate(%)";

static const char header_arithmetic_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_ratio,aic_cube_fp_ratio,"
    "aic_cube_int_ratio,aic_cube_total_instr_number,aic_cube_fp_instr_number,"
    "aic_cube_int_instr_number,aiv_time(us),aiv_total_cycles,aiv_vec_ratio,aiv_vec_vf_ratio,"
    "aiv_vec_sfu_ratio,aiv_vec_simt_vf_ratio";

static const char header_pipe_310p[] =
    "aic_time(us),aic_total_cycles,aic_cube_time(us),aic_cube_ratio,aic_scalar_time(us),"
    "aic_scalar_ratio,aic_mte1_time(us),aic_mte1_ratio,aic_mte2_time(us),aic_mte2_ratio,"
    "aic_mte3_time(us),aic_mte3_ratio,aic_icache_miss_rate,aic_vec_time(us),aic_vec_ratio";

static const char header_memory_310p[] =
    "aic_time(us),aic_total_cycles,aic_l1_read_bw(GB/s),aic_l1_write_bw(GB/s),"
    "aic_ub_to_gm_bw(GB/s),aic_gm_to_ub_bw(GB/s),aic_main_mem_read_bw(GB/s),"
    "aic_main_mem_write_bw(GB/s),aic_mte1_instructions,aic_mte1_ratio,aic_mte2_instructions,"
    "aic_mte2_ratio,aic_mte3_instructions,aic_mte3_ratio";

static const char header_arithmetic_310p[] =
    "aic_time(us),aic_total_cycles,aic_cube_ratio,aic_cube_fp16_ratio,aic_cube_int8_ratio,"
    "aic_cube_fops,aic_cube_total_instr_number,aic_vec_ratio,aic_vec_fp32_ratio,aic_vec_fp16_ratio,"
    "aic_vec_int32_ratio,aic_vec_int16_ratio,aic_vec_misc_ratio,aic_vec_fops";

static const char header_basic_310p[] =
    "Op Name,Op Type,Task Duration(us),Block Dim,Device Id,Pid,Current Freq,Rated Freq";
static const char header_l2_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_write_cache_hit,"
    "aic_write_cache_miss_allocate,aic_r0_read_cache_hit,aic_r0_read_cache_miss_allocate,"
    "aic_r1_read_cache_hit,aic_r1_read_cache_miss_allocate,aic_write_hit_rate(%),"
    "aic_read_hit_rate(%),aic_total_hit_rate(%),aiv_time(us),aiv_total_cycles,"
    "aiv_write_cache_hit,aiv_write_cache_miss_allocate,aiv_r0_read_cache_hit,"
    "aiv_r0_read_cache_miss_allocate,aiv_r1_read_cache_hit,aiv_r1_read_cache_miss_allocate,"
    "aiv_write_hit_rate(%),aiv_read_hit_rate(%),aiv_total_hit_rate(%)";

static const char header_l2_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_read_close_hit,aic_read_close_miss,"
    "aic_read_close_victim,aic_read_far_hit,aic_read_far_miss,aic_read_far_victim,"
    "aic_read_hit_rate(%),aic_write_close_hit,aic_write_close_miss,aic_write_close_victim,"
    "aic_write_far_hit,aic_write_far_miss,aic_write_far_victim,aic_write_hit_rate(%),"
    "aiv_time(us),aiv_total_cycles,aiv_read_close_hit,aiv_read_close_miss,aiv_read_close_victim,"
    "aiv_read_far_hit,aiv_read_far_miss,aiv_read_far_victim,aiv_read_hit_rate(%),"
    "aiv_write_close_hit,aiv_write_close_miss,aiv_write_close_victim,aiv_write_far_hit,"
    "aiv_write_far_miss,aiv_write_far_victim,aiv_write_hit_rate(%)";

static const char header_l2_310p[] =
    "aic_l2_cache_hit_rate(%)";

static const char header_l0_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_l0a_read_bw(GB/s),"
    "aic_l0a_write_bw(GB/s),aic_l0b_read_bw(GB/s),aic_l0b_write_bw(GB/s),"
    "aic_l0c_read_bw_cube(GB/s),aic_l0c_write_bw_cube(GB/s),aiv_time(us),aiv_total_cycles";

static const char header_l0_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_l0a_read_bw(GB/s),"
    "aic_l0a_write_bw(GB/s),aic_l0b_read_bw(GB/s),aic_l0b_write_bw(GB/s),"
    "aic_l0c_read_bw_cube(GB/s),aic_l0c_write_bw_cube(GB/s),aiv_time(us),aiv_total_cycles";

static const char header_l0_310p[] =
    "aic_time(us),aic_total_cycles,aic_l0a_read_bw(GB/s),aic_l0a_write_bw(GB/s),"
    "aic_l0b_read_bw(GB/s),aic_l0b_write_bw(GB/s),aic_l0c_read_bw_cube(GB/s),"
    "aic_l0c_write_bw_cube(GB/s),aic_l0c_read_bw(GB/s),aic_l0c_write_bw(GB/s)";

static const char header_ub_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,"
    "aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_vector(GB/s),aiv_ub_read_bw_scalar(GB/s),"
    "aiv_ub_write_bw_scalar(GB/s)";

static const char header_ub_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aiv_time(us),aiv_total_cycles,"
    "aiv_ub_read_bw_vector(GB/s),aiv_ub_write_bw_vector(GB/s),aiv_ub_read_bw_gm(GB/s),"
    "aiv_ub_write_bw_gm(GB/s)";

static const char header_ub_310p[] =
    "aic_time(us),aic_total_cycles,aic_ub_read_bw_vector(GB/s),aic_ub_write_bw_vector(GB/s),"
    "aic_ub_read_bw_scalar(GB/s),aic_ub_write_bw_scalar(GB/s)";

static const char header_conflict_a2[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_wait_ratio,aic_mte1_wait_ratio,"
    "aic_mte2_wait_ratio,aic_mte3_wait_ratio,aiv_time(us),aiv_total_cycles,"
    "aiv_vec_total_cflt_ratio,aiv_vec_bankgroup_cflt_ratio,aiv_vec_bank_cflt_ratio,"
    "aiv_vec_resc_cflt_ratio,aiv_vec_mte_cflt_ratio,aiv_vec_wait_ratio,aiv_mte2_wait_ratio,"
    "aiv_mte3_wait_ratio";

static const char header_conflict_a5[] =
    "block_id,sub_block_id,aic_time(us),aic_total_cycles,aic_cube_wait_ratio,aic_mte1_wait_ratio,"
    "aic_mte2_wait_ratio,aic_mte3_wait_ratio,aiv_time(us),aiv_total_cycles,"
    "aiv_vec_stu_cflt_ratio,aiv_vec_ldu_cflt_ratio,aiv_vec_sfu_cflt_ratio,aiv_vec_wait_ratio,"
    "aiv_mte2_wait_ratio,aiv_mte3_wait_ratio";

static const char header_conflict_310p[] =
    "aic_time(us),aic_total_cycles,aic_cube_wait_ratio,aic_vec_wait_ratio,aic_mte1_wait_ratio,"
    "aic_mte2_wait_ratio,aic_mte3_wait_ratio,aic_vec_total_cflt_ratio,"
    "aic_vec_bankgroup_cflt_ratio,aic_vec_bank_cflt_ratio,aic_vec_resc_cflt_ratio,"
    "aic_vec_mte_cflt_ratio";
/* clang-format on */

#endif
