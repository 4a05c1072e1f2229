# SPDX-License-Identifier: Apache-2.0
"""Streams of requests on engines: Python for test_serving_same.sh. serving.c says what is served."""
import vinci

state, requests, at = 7, [], 0


def draw(most):
    global state
    state = (state * 1103515245 + 12345) % (1 << 31)
    return (state >> 16) % most


for _ in range(200):
    at += 10 * draw(60)
    prompt = 1 + draw(300)
    requests.append((at, prompt, 1 + draw(60)))


def step(one):
    return 100 + 2 * one.batch + one.ends + one.length * one.batch / 64 + sum(tokens + before / 8 for tokens, before in one.parts)


for tokens, pages, prefill, decode in ((2048, 4000, 0, 0), (64, 60, 0, 0), (100, 160, 0, 0), (64, 60, 2, 3)):
    found = vinci.serving_run(requests, page=16, batch=24, tokens=tokens, pages=pages, prefill=prefill, decode=decode, step=step,
                              send=lambda count: 50 + count / 4)
    for share in (found.ttft, found.tpot, found.itl):
        print(f"{share.p50_us:.6f} {share.p90_us:.6f} {share.p99_us:.6f} {share.count}")
    print(f"{found.start_us:.6f} {found.end_us:.6f} {found.busy_us:.6f} {found.tokens} {found.steps} {found.preempted} {found.fullest} {found.engines}")
