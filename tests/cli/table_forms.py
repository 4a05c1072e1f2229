# SPDX-License-Identifier: Apache-2.0
"""What simulators of serving and training read of the files of vinci table: prints what is missing or wrong."""
import csv
import os
import sys


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def expect(what, found, wanted):
    if found != wanted:
        print(f"{what}: {found}, expected {wanted}")


def llmservingsim(root):
    """Axes tokens 1,16, sequences 2, chunk 32, kv 64,128; 4 experts of which 2 are taken; one and two ranks."""
    text = open(f"{root}/meta.yaml").read()
    for line in ("tp_degrees: [1, 2]", "  max_num_batched_tokens: 16", "  max_num_seqs: 2", "  enabled: false"):
        if line not in text:
            print(f"meta.yaml has no line '{line}'")
    expect("files of one rank", sorted(os.listdir(f"{root}/tp1")), ["attention.csv", "dense.csv", "moe.csv", "per_sequence.csv"])
    dense = {(row["layer"], int(row["tokens"])): float(row["time_us"]) for row in rows_of(f"{root}/tp1/dense.csv")}
    layers = ("embedding", "final_layernorm", "layernorm", "o_proj", "qk_norm", "qkv_proj", "rotary_emb")
    expect("layers", sorted(dense), sorted((layer, t) for layer in layers for t in (1, 16)))
    if not all(us > 0.5 for us in dense.values()):
        print("a layer takes no time")
    expect("layers by sequence", [(row["layer"], row["sequences"]) for row in rows_of(f"{root}/tp1/per_sequence.csv")],
           [("lm_head", "2"), ("sampler", "2")])
    attention = {tuple(int(row[key]) for key in ("prefill_chunk", "kv_prefill", "n_decode", "kv_decode")): float(row["time_us"])
                 for row in rows_of(f"{root}/tp2/attention.csv")}
    points = {(0, 0, 2, kv) for kv in (64, 128)}
    for history in (0, 64, 128):
        points |= {(32, history, 0, 0)} | {(32, history, 2, kv) for kv in (64, 128)}
    expect("points of attention", set(attention), points)
    both, alone = attention[32, 64, 2, 128], (attention[32, 64, 0, 0], attention[0, 0, 2, 128])
    if not max(alone) < both < sum(alone):
        print(f"a step with a prompt and tokens takes {both} us, alone {alone}")
    experts = [(int(row["tokens"]), int(row["activated_experts"])) for row in rows_of(f"{root}/tp1/moe.csv")]
    expect("experts", experts, [(1, 2), (16, 2), (16, 4)])


def vidur(root):
    """The columns that its predictor selects rows by, and those that it learns from."""
    rows = rows_of(f"{root}/compute/ascend910b4/house/dense/mlp.csv")
    key = ("n_head", "n_kv_head", "n_embd", "n_expanded_embd", "use_gated_mlp", "vocab_size", "num_tensor_parallel_workers", "num_tokens")
    expect("rows of layers", [tuple(row[name] for name in key) for row in rows],
           [("8", "8", "256", "512", "True", "1000", tp, t) for tp in ("1", "2") for t in ("1", "16")])
    for row in rows:
        for name in ("attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj", "mlp_act", "input_layernorm",
                     "post_attention_layernorm", "attn_rope", "add"):
            if not 0.0005 < float(row[f"time_stats.{name}.median"]) < 1:
                print(f"{name} takes {row[f'time_stats.{name}.median']} ms")
    rows = rows_of(f"{root}/compute/ascend910b4/house/dense/attention.csv")
    expect("rows of attention", len(rows), 2 * (3 + 2))
    for row in rows:
        decode = row["prefill_chunk_size"] == "0"
        expect("a row is of a prompt or of tokens", float(row["time_stats.attn_prefill.median"]) == 0, decode)
        expect("and the other", float(row["time_stats.attn_decode.median"]) > 0, decode)
        expect("block", row["block_size"], "128")
    rows = rows_of(f"{root}/network/atlas_a2_910b4/all_reduce.csv")
    expect("sums", [(row["collective"], row["num_workers"], row["devices_per_node"], row["size"]) for row in rows],
           [("all_reduce", "2", "2", str(t * 256 * 2)) for t in (1, 16)])


def simai(path):
    """Two layers, two ranks in tensor and two in data parallel, samples of a step in two micro batches."""
    lines = open(path).read().splitlines()
    words = lines[0].split()
    expect("policy", words[0], "HYBRID_TRANSFORMER_FWD_IN_BCKWD")
    named = {words[i]: words[i + 1] for i in range(1, len(words), 2)}
    expect("split", named, {"model_parallel_NPU_group:": "2", "ep:": "1", "pp:": "1", "vpp:": "2", "ga:": "2", "all_gpus:": "4",
                            "checkpoints:": "0", "checkpoint_initiates:": "0", "pp_comm:": "0"})
    rows = [line.split() for line in lines[2:]]
    expect("number of rows", len(rows), int(lines[1]))
    expect("fields", {len(row) for row in rows}, {12})
    step = ["embedding_layer", *2 * ["attention_layer", "mlp_layer"], "logits_layer"]
    expect("rows", [row[0] for row in rows], ["grad_gather", "grad_param_comm", "grad_param_compute", *2 * step])
    for row in rows:
        if row[0] in ("attention_layer", "mlp_layer"):
            expect(f"{row[0]} sends", (row[3], row[4], row[6], row[7]), ("ALLREDUCE", str(64 * 256 * 2), "ALLREDUCE", str(64 * 256 * 2)))
            if not 1000 < int(row[2]) < int(row[5]):
                print(f"{row[0]}: {row[2]} ns forward, {row[5]} ns backward")


{"llmservingsim": llmservingsim, "vidur": vidur, "simai": simai}[sys.argv[1]](sys.argv[2])
