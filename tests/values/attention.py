# SPDX-License-Identifier: Apache-2.0
"""Lowered flash attention against numpy: `vinci run flash_attention --check --expect`.

    attention.py VINCI [--seed S] [--soc NAME] [--every N]

The reference is the definition in double precision: no blocks, no running maximum. Operands are
random in [-1, 1); probabilities are rounded to the type of the operands once, results too.
Prints the seed; ends with 1 and the calls that differ or do not pass the checks.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

LENGTHS = [(1, 1), (1, 129), (15, 17), (17, 15), (127, 1), (129, 127), (127, 127), (129, 129),
           (300, 1100)]
# batch, heads, heads of K and V, elements of a head, layout, type
HEADS = [(1, 1, 1, 64, "BNSD", "fp16"), (2, 4, 2, 17, "SBH", "bf16"), (1, 3, 1, 129, "BSND", "fp16"),
         (2, 2, 2, 256, "BSH", "fp16"), (1, 8, 2, 128, "BNSD", "bf16")]
TILINGS = [["rows=16", "cols=64", "panel=64", "slice=8", "cores=3"],
           ["rows=32", "cols=128", "panel=32", "cores=2"], ["rows=64", "cols=256", "panel=256"],
           ["rows=48", "cols=192", "panel=64"], ["rows=128", "cols=384", "panel=128", "diagonal=whole"]]
EXTRAS = [["scale=0.5"], [], ["statistics=1"]]
TOLERANCE = {"fp16": (1e-3, 4e-3), "bf16": (8e-3, 3e-2)}
# dV sums roundings of P, dQ and dK those of dS and of O in delta, over all rows.
GRADIENT_TOLERANCE = {"fp16": (6e-3, 8e-3), "bf16": (5e-2, 5e-2)}


def bf16_bits(array):
    """Rounded to nearest even."""
    bits = np.asarray(array, np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def stored(array, kind):
    """The bits of the file, and the numbers that they stand for."""
    if kind == "fp16":
        return array.astype(np.float16), array.astype(np.float16).astype(np.float64)
    bits = bf16_bits(array)
    return bits, (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64)


def attention(q, k, v, causal, scale, window=0, mask=None):
    group = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) * scale
    queries, keys = scores.shape[2:]
    last = np.arange(queries)[:, None] + keys - queries if causal else np.full((queries, 1), keys - 1)
    visible = np.arange(keys)[None, :] <= last
    if window:
        visible &= np.arange(keys)[None, :] > last - window
    if mask is not None:
        visible &= mask == 0
    scores = np.where(visible, scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - largest)
    total = weights.sum(-1, keepdims=True)
    return np.matmul(weights / total, v), largest, total


def gradients(q, k, v, dy, causal, scale):
    """dQ, dK, dV of the sum of attention(q, k, v) * dy, by the rules for products and softmax."""
    group = q.shape[1] // k.shape[1]
    wide_k, wide_v = np.repeat(k, group, 1), np.repeat(v, group, 1)
    result, largest, total = attention(q, k, v, causal, scale)
    scores = np.matmul(q, wide_k.transpose(0, 1, 3, 2)) * scale
    if causal:
        queries, keys = scores.shape[2:]
        visible = np.arange(keys)[None, :] <= np.arange(queries)[:, None] + keys - queries
        scores = np.where(visible, scores, -np.inf)
    p = np.exp(scores - largest) / total
    dp = np.matmul(dy, wide_v.transpose(0, 1, 3, 2))
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) * scale
    dk = np.matmul(ds.transpose(0, 1, 3, 2), q)
    dv = np.matmul(p.transpose(0, 1, 3, 2), dy)
    heads = (k.shape[0], k.shape[1], group) + k.shape[2:]
    return (np.matmul(ds, wide_k), dk.reshape(heads).sum(2), dv.reshape(heads).sum(2), result,
            largest, total)


def laid_out(x, layout):
    batch, heads, rows, depth = x.shape
    if layout == "BNSD":
        return x
    if layout == "SBH":
        return x.transpose(2, 0, 1, 3).reshape(rows, batch, heads * depth)
    x = x.transpose(0, 2, 1, 3)
    return x if layout == "BSND" else x.reshape(batch, rows, heads * depth)


class Runner:
    def __init__(self, program, soc, folder, rng):
        self.program, self.soc, self.folder, self.rng = program, soc, folder, rng

    def save(self, name, values):
        path = os.path.join(self.folder, name + ".npy")
        np.save(path, np.ascontiguousarray(values))
        return f"{name}={path}"

    def draw(self, shape, kind):
        return stored(self.rng.uniform(-1, 1, shape), kind)

    def run(self, op, args, inputs, expected, tolerance):
        """Returns what is wrong, or None."""
        command = [self.program, "run", op, *args, "-s", self.soc, "-q", "--check"]
        for name, values in inputs.items():
            command += ["--input", self.save(name, values)]
        for name, values in expected.items():
            command += ["--expect", self.save(name, values.astype(np.float32))]
        command += ["--atol", str(tolerance[0]), "--rtol", str(tolerance[1])]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return None
        return f"{op} {' '.join(args)}: {done.stderr.strip()[:300]}"


def arguments(lengths, heads, causal, extra):
    (seq_q, seq_k), (batch, n, kv, depth, layout, kind) = lengths, heads
    return [f"batch={batch}", f"heads={n}", f"kv_heads={kv}", f"seq_q={seq_q}", f"seq_k={seq_k}",
            f"head_dim={depth}", f"layout={layout}", f"dtype={kind}", f"causal={causal}", *extra]


def forward(runner, lengths, heads, causal, extra):
    (seq_q, seq_k), (batch, n, kv, depth, layout, kind) = lengths, heads
    scale = next((float(word[6:]) for word in extra if word.startswith("scale=")), depth ** -0.5)
    inputs, numbers = {}, []
    for name, count, rows in (("q", n, seq_q), ("k", kv, seq_k), ("v", kv, seq_k)):
        values, exact = runner.draw((batch, count, rows, depth), kind)
        inputs[name] = laid_out(values, layout)
        numbers.append(exact)
    result, largest, total = attention(*numbers, causal, scale)
    expected = {"o": laid_out(result, layout)}
    if "statistics=1" in extra:
        expected |= {"row_max": np.repeat(largest, 8, -1), "row_sum": np.repeat(total, 8, -1)}
    return runner.run("flash_attention", arguments(lengths, heads, causal, extra), inputs, expected,
                      TOLERANCE[kind])


def hiding(runner, lengths, heads, causal, extra):
    """A window, a mask, and rows of V that are shorter or longer than those of K."""
    (seq_q, seq_k), (batch, n, kv, depth, layout, kind) = lengths, heads
    words = dict(word.split("=") for word in extra)
    window, width = int(words.get("window", 0)), int(words.get("v_dim", depth))
    inputs, numbers, mask = {}, [], None
    for name, count, rows, row in (("q", n, seq_q, depth), ("k", kv, seq_k, depth), ("v", kv, seq_k, width)):
        values, exact = runner.draw((batch, count, rows, row), kind)
        inputs[name] = laid_out(values, layout)
        numbers.append(exact)
    if "mask" in words:
        mask = (runner.rng.random((seq_q, seq_k)) < 0.5).astype(np.uint8)
        mask[np.arange(seq_q), np.arange(seq_q) + seq_k - seq_q] = 0  # no row without a key
        inputs["mask"] = mask
    result = attention(*numbers, causal, depth ** -0.5, window, mask)[0]
    return runner.run("flash_attention", arguments(lengths, heads, causal, extra), inputs,
                      {"o": laid_out(result, layout)}, TOLERANCE[kind])


def paged(runner, lengths, heads, causal, extra):
    """Each sequence is gathered from the cache by the table that the operator is given, whatever its keys state."""
    (seq_q, each), (batch, n, kv, depth, layout, kind) = lengths, heads
    words = dict(word.split("=") for word in extra)
    size, width, latent = int(words.get("block_size", 128)), int(words.get("v_dim", depth)), "latent" in words
    most = -(-max(each) // size)
    blocks = int(words.get("blocks", batch * most))
    columns = -(-most // 8) * 8
    # Blocks in any order, shared where there are not enough; what is behind the keys is never read.
    table = np.full((batch, columns), -1, np.int32)
    needed = [-(-each[s % len(each)] // size) for s in range(batch)]
    free = np.concatenate([runner.rng.permutation(blocks) for _ in range(-(-sum(needed) // blocks))])
    for s in range(batch):
        table[s, :needed[s]], free = free[:needed[s]], free[needed[s]:]
    q, exact_q = runner.draw((batch, n, seq_q, depth), kind)
    k, exact_k = runner.draw((blocks, size, kv, depth), kind)
    v, exact_v = runner.draw((blocks, size, kv, width), kind)
    inputs = {"q": laid_out(q, layout), "k": k, "block_table": table}
    if latent:
        exact_v = exact_k[..., :width]
    else:
        inputs["v"] = v
    window = int(words.get("window", 0))
    rows = []
    for s in range(batch):
        keys = each[s % len(each)]
        of_s = [x[table[s, :needed[s]]].reshape(needed[s] * size, kv, -1)[:keys].transpose(1, 0, 2)[None]
                for x in (exact_k, exact_v)]
        rows.append(attention(exact_q[s:s + 1], *of_s, causal, depth ** -0.5, window)[0])
    args = [word for word in arguments((seq_q, 0), heads, causal, extra) if not word.startswith("seq_k=")]
    args.append("lengths=" + "x".join(map(str, each)))
    return runner.run("paged_attention", args, inputs, {"o": laid_out(np.concatenate(rows), layout)},
                      TOLERANCE[kind])


def backward(runner, lengths, heads, causal, extra):
    (seq_q, seq_k), (batch, n, kv, depth, layout, kind) = lengths, heads
    scale = next((float(word[6:]) for word in extra if word.startswith("scale=")), depth ** -0.5)
    inputs, numbers = {}, []
    for name, count, rows in (("q", n, seq_q), ("k", kv, seq_k), ("v", kv, seq_k), ("dy", n, seq_q)):
        values, exact = runner.draw((batch, count, rows, depth), kind)
        inputs[name] = laid_out(values, layout)
        numbers.append(exact)
    dq, dk, dv, result, largest, total = gradients(*numbers, causal, scale)
    inputs["o"] = laid_out(stored(result, kind)[0], layout)
    for name, values in (("row_max", largest), ("row_sum", total)):
        inputs[name] = np.repeat(values, 8, -1).astype(np.float32)
    expected = {name: laid_out(values, layout)
                for name, values in (("dq", dq), ("dk", dk), ("dv", dv))}
    return runner.run("flash_attention_grad", arguments(lengths, heads, causal, extra), inputs,
                      expected, GRADIENT_TOLERANCE[kind])


def cases():
    for index, lengths in enumerate(LENGTHS):
        for heads in HEADS:
            for causal in (0, 1):
                if causal and lengths[0] > lengths[1]:
                    continue
                yield forward, lengths, heads, causal, EXTRAS[index % len(EXTRAS)]
                yield backward, lengths, heads, causal, EXTRAS[index % 2]
    for tiling in TILINGS:
        yield forward, (257, 511), (1, 2, 1, 80, "BNSD", "fp16"), 1, tiling
        yield backward, (257, 511), (1, 2, 1, 80, "BNSD", "fp16"), 1, tiling
    for tiling in CARRIED:
        yield forward, (257, 511), (1, 2, 1, 80, "BNSD", "fp16"), 1, tiling
    for lengths, heads, tiling in SPLITS:
        yield forward, lengths, heads, 0, tiling
    for lengths, heads, causal, extra in HIDING:
        yield hiding, lengths, heads, causal, extra
    for lengths, heads, causal, extra in PAGED:
        yield paged, lengths, heads, causal, extra


# Rows of V that are no rows of K, windows shorter and longer than a step and all keys, masks.
HIDING = [((127, 300), (1, 2, 1, 80, "BNSD", "fp16"), 1, ["window=50", "cols=64", "panel=64"]),
          ((129, 129), (2, 2, 2, 17, "SBH", "bf16"), 1, ["window=129", "mask=1"]),
          ((1, 1000), (1, 8, 2, 128, "BSND", "fp16"), 0, ["window=333", "mask=1"]),
          ((33, 257), (1, 3, 1, 64, "BSH", "fp16"), 0, ["mask=1", "rows=16", "cols=128"]),
          ((70, 300), (1, 2, 2, 192, "BSND", "fp16"), 1, ["v_dim=128", "cols=128"]),
          ((5, 77), (2, 4, 2, 40, "BNSD", "bf16"), 0, ["v_dim=72", "splits=2", "cols=64"]),
          ((1, 130), (1, 4, 1, 64, "SBH", "fp16"), 0, ["window=1", "v_dim=16"])]
# Queries and lengths; blocks of 16 to 512 keys, shared ones too; parts that short sequences do not have.
PAGED = [((1, [513]), (3, 8, 2, 128, "BNSD", "fp16"), 0, ["block_size=128", "step=3"]),
         ((1, [1000, 17, 1, 300]), (4, 4, 1, 80, "BSND", "fp16"), 0, ["block_size=16", "splits=4", "cols=64"]),
         ((1, [2000, 129]), (3, 6, 3, 64, "BSH", "bf16"), 0, ["block_size=256", "blocks=5", "first=3", "step=2"]),
         ((1, [300, 700]), (2, 16, 1, 576, "BSND", "fp16"), 0, ["v_dim=512", "latent=1", "block_size=128"]),
         ((1, [260]), (1, 32, 1, 192, "BNSD", "bf16"), 0, ["v_dim=128", "latent=1", "block_size=64", "splits=2", "cols=128"]),
         ((1, [900, 100]), (2, 4, 2, 128, "BNSD", "fp16"), 0, ["window=200", "block_size=32"]),
         ((5, [300]), (2, 4, 2, 64, "BSND", "fp16"), 1, ["block_size=512", "window=77"])]
# Values of rows go to device memory between steps.
CARRIED = [["rows=32", "cols=128", "panel=64", "carry=gm"], ["rows=128", "slice=8", "carry=gm", "statistics=1"]]
# Lengths, heads, parts of the keys.
SPLITS = [((1, 1009), (1, 2, 1, 80, "BNSD", "fp16"), ["splits=2", "cols=64"]),
          ((127, 1000), (1, 1, 1, 128, "BSH", "bf16"), ["splits=3", "cols=64", "rows=16"]),
          ((1, 1021), (2, 6, 2, 17, "SBH", "fp16"), ["splits=8", "cols=128"]),
          ((1, 2500), (1, 4, 4, 256, "BSND", "fp16"), ["splits=5", "cols=512"])]



# On cores that are cube and vector core in one: steps of all keys, of several and with a panel of all; the edge of a
# causal mask through corners of fractals and elsewhere; keys and rows that are no whole fractals.
COUPLED = [(forward, (1, 1), (1, 1, 1, 16, "BNSD", "fp16"), 0, []),
           (forward, (197, 197), (1, 3, 3, 64, "BSND", "fp16"), 0, []),
           (forward, (1, 129), (1, 8, 2, 64, "BNSD", "fp16"), 0, []),
           (forward, (64, 64), (1, 2, 1, 128, "BSND", "fp16"), 1, ["scale=0.5"]),
           (forward, (127, 300), (2, 4, 2, 80, "SBH", "fp16"), 1, []),
           (forward, (97, 1041), (1, 4, 2, 64, "BSH", "fp16"), 1, ["rows=48", "cols=256", "panel=256"]),
           (forward, (130, 600), (1, 4, 2, 64, "BNSD", "fp16"), 0, ["rows=32", "cols=128", "scale=1"]),
           (forward, (130, 600), (1, 4, 2, 64, "BNSD", "fp16"), 0, ["rows=112", "cols=64", "panel=608", "cores=3"]),
           (forward, (130, 610), (1, 4, 2, 64, "BNSD", "fp16"), 1, ["rows=80", "cols=64", "panel=624", "cores=3"]),
           (forward, (40, 300), (1, 2, 2, 256, "BNSD", "fp16"), 0, []),
           (hiding, (96, 96), (1, 2, 1, 80, "BNSD", "fp16"), 0, ["mask=1"]),
           (hiding, (33, 256), (1, 3, 1, 64, "BSH", "fp16"), 0, ["mask=1", "rows=16", "cols=128"]),
           (hiding, (70, 320), (1, 2, 2, 192, "BSND", "fp16"), 1, ["v_dim=128", "mask=1", "cols=128"]),
           (hiding, (1, 320), (1, 8, 2, 128, "BSND", "fp16"), 0, ["mask=1"]),
           (paged, (1, [513]), (2, 8, 2, 128, "BNSD", "fp16"), 0, ["block_size=128", "step=3"]),
           (paged, (1, [500, 17, 1, 300]), (4, 4, 1, 80, "BSND", "fp16"), 0,
            ["block_size=48", "cols=64", "panel=64"]),
           (paged, (5, [300]), (2, 4, 2, 64, "BSND", "fp16"), 1, ["block_size=512"]),
           (paged, (1, [30, 200]), (2, 16, 1, 576, "BSND", "fp16"), 0, ["v_dim=512", "latent=1", "block_size=16"]),
           (forward, (1, 129), (1, 8, 2, 64, "BNSD", "fp16"), 0, ["statistics=1"]),
           (forward, (197, 197), (1, 3, 3, 64, "BSND", "fp16"), 1, ["statistics=1"]),
           (forward, (130, 600), (1, 4, 2, 64, "BNSD", "fp16"), 0, ["statistics=1", "rows=32", "cols=128"]),
           (backward, (1, 1), (1, 1, 1, 16, "BNSD", "fp16"), 0, []),
           (backward, (17, 15), (2, 2, 2, 48, "SBH", "fp16"), 0, ["scale=1"]),
           (backward, (1, 129), (1, 4, 2, 64, "BNSD", "fp16"), 1, []),
           (backward, (197, 197), (1, 3, 3, 64, "BSND", "fp16"), 0, []),
           (backward, (128, 128), (2, 2, 1, 128, "BNSD", "fp16"), 1, ["scale=0.5"]),
           (backward, (127, 300), (1, 6, 2, 80, "BSH", "fp16"), 1, []),
           (backward, (255, 255), (1, 2, 1, 112, "BNSD", "fp16"), 1, ["rows=48", "cols=32", "panel=32", "slice=48"]),
           (backward, (130, 610), (1, 4, 2, 64, "BNSD", "fp16"), 1, ["rows=16", "cols=112", "cores=3"]),
           (backward, (300, 100), (1, 4, 1, 64, "BSND", "fp16"), 0, ["rows=112", "cols=16", "cores=2"])]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--soc", default="Ascend910B4")
    parser.add_argument("--every", type=int, default=1, help="runs one case of each N, with all tilings")
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    coupled = options.soc in ("Ascend310P3", "Ascend910A")
    chosen = [case for index, case in enumerate(COUPLED if coupled else cases())
              if coupled or index % options.every == options.seed % options.every or len(case[4]) > 1]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        runner = Runner(options.program, options.soc, folder, rng)
        outcomes = [case[0](runner, *case[1:]) for case in chosen]
    wrong = [outcome for outcome in outcomes if outcome]
    print(f"seed {options.seed}: {len(outcomes)} attentions, {len(wrong)} differ")
    print("\n".join(wrong[:20]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
