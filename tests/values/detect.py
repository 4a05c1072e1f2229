# SPDX-License-Identifier: Apache-2.0
"""Operators of detection: which boxes are kept, points of regions; against numpy.

    detect.py VINCI [options of vecops.py]
"""

import sys

import numpy as np

from vecops import main, rounded


def corners(boxes, center):
    """Lower and upper ends of both sides, in single precision."""
    a, b = boxes[:, :2], boxes[:, 2:]
    if center:
        half = b * np.float32(0.5)
        return a - half, a + half
    return np.minimum(a, b), np.maximum(a, b)


def suppress(boxes, scores, most, iou, score, center):
    """Indices of kept boxes by the definition: the best first, among equals the first."""
    low, high = corners(boxes.astype(np.float32), center)
    side = high - low
    area = side[:, 0] * side[:, 1]
    share = np.float32(iou) / (np.float32(1) + np.float32(iou))
    left = scores.astype(np.float32).copy()
    if score is not None:
        left[~(left > np.float32(score))] = -np.inf
    kept = []
    while len(kept) < min(most, len(left)) and left.max() > -np.inf:
        best = int(left.argmax())
        kept.append(best)
        width = np.minimum(high, high[best]) - np.maximum(low, low[best])
        inter = np.maximum(width[:, 0], np.float32(0)) * width[:, 1]
        left[inter > area * share + area[best] * share] = -np.inf
        left[best] = -np.inf
    return kept


def draw_boxes(cases, boxes, kind, dtype):
    """[boxes, 4]: two corners in any order, or middles and sides."""
    rng = cases.rng
    middle, side = rng.uniform(0, 100, (boxes, 2)), rng.uniform(1, 30, (boxes, 2))
    if kind == "equal":
        middle[:], side[:] = 50, 10
    elif kind == "apart":  # no two touch
        middle, side = np.stack([np.arange(boxes) * 3, np.full(boxes, 9)], 1), np.full((boxes, 2), 2)
    elif kind == "thin":  # boxes without area overlap with nothing
        side[:, 0] = 0
    if kind == "center":
        return rounded(np.concatenate([middle, side], 1), dtype)
    turn = rng.integers(0, 2, (boxes, 2)) * 2 - 1  # corners are flipped
    return rounded(np.concatenate([middle - turn * side / 2, middle + turn * side / 2], 1), dtype)


# Boxes, images, classes, most, iou, least score, kind, arguments.
NMS = [(1, 1, 1, 1, 0.5, None, "plain", ""), (7, 1, 1, 10, 0.5, None, "plain", ""),
       (64, 1, 1, 64, 0.0, None, "plain", ""), (65, 2, 3, 9, 0.3, 0.5, "plain", "blocks=2"),
       (1009, 1, 1, 100, 0.5, 0.1, "plain", ""), (1000, 1, 5, 17, 0.6, None, "center", "chunk=128"),
       (300, 1, 1, 300, 0.5, None, "apart", ""), (131, 1, 2, 20, 0.5, None, "equal", ""),
       (100, 1, 1, 30, 0.5, 2.0, "plain", ""), (33, 3, 1, 33, 0.5, None, "thin", ""),
       (33, 1, 1, 40, 1.0, None, "equal", ""), (8732, 1, 1, 21, 0.45, 0.01, "plain", ""),
       (200, 1, 1, 50, 0.5, None, "ties", ""), (2049, 2, 2, 12, 0.5, -3.0, "negative", "chunk=256 blocks=3")]


def kept_boxes(cases):
    for boxes, images, classes, most, iou, score, kind, tail in NMS:
        for dtype in ["fp32", "fp16"]:
            where = np.stack([draw_boxes(cases, boxes, kind, dtype) for _ in range(images)])
            scores = rounded(cases.rng.uniform(-4 if kind == "negative" else 0, 0 if kind == "negative" else 1,
                                               (images, classes, boxes)), dtype)
            if kind == "ties":
                scores = np.floor(scores * 4).astype(scores.dtype)
            y, y1 = np.full((images * classes, most), -1, np.int32), np.zeros((images * classes, 8), np.int32)
            for i in range(images * classes):
                kept = suppress(where[i // classes], scores[i // classes, i % classes], most, iou, score,
                                kind == "center")
                y[i, :len(kept)], y1[i] = kept, len(kept)
            request = "nms boxes=%d batches=%d classes=%d most=%d iou=%.9g dtype=%s center=%d %s" % (
                boxes, images, classes, most, iou, dtype, kind == "center", tail)
            if score is not None:
                request += " score=%.9g" % score
            cases.add(request, {"boxes": where, "scores": scores}, {"y": y, "y1": y1})
            cases.add(request + " planes=1", {"boxes": where.swapaxes(1, 2), "scores": scores}, {"y": y, "y1": y1})


def lists(cases):
    for images, classes, most, kinds, tail in [(1, 1, 1, "full", ""), (1, 1, 9, "some", ""), (2, 3, 17, "some", "blocks=2"),
                                               (1, 80, 100, "few", ""), (3, 1, 1000, "full", ""), (1, 97, 5, "one", "blocks=7")]:
        units = images * classes
        counts = {"full": np.full(units, most), "some": cases.rng.integers(1, most + 1, units),
                  "few": cases.rng.integers(0, 2, units) * most // 3, "one": np.arange(units) == units // 2}[kinds].astype(int)
        counts[0] = max(counts[0], 0 if kinds == "one" else 1)
        x = np.full((units, most), -1, np.int32)
        for i, count in enumerate(counts):
            x[i, :count] = cases.rng.permutation(5000)[:count]
        y = [(i // classes, i % classes, box) for i, count in enumerate(counts) for box in x[i, :count]]
        for out in ["int64", "int32"]:
            cases.add("nms_list batches=%d classes=%d most=%d count=%d out=%s %s" % (images, classes, most, len(y), out, tail),
                      {"x": x, "x1": np.repeat(counts[:, None], 8, 1).astype(np.int32)}, {"y": np.array(y).astype(out)})


def aligned(x, rois, index, size, points, scale, half):
    """Bins of regions from the definition, in double precision; x has channels last."""
    _, rows, columns, channels = x.shape
    y = np.zeros((len(rois), *size, channels))
    for r, (roi, image) in enumerate(zip(rois.astype(np.float64) * scale - (0.5 if half else 0), index)):
        sides = roi[2:] - roi[:2] if half else np.maximum(roi[2:] - roi[:2], 1)
        for ph, pw, iy, ix in np.ndindex(*size, points, points):
            at = [roi[1] + (ph + (iy + 0.5) / points) * sides[1] / size[0],
                  roi[0] + (pw + (ix + 0.5) / points) * sides[0] / size[1]]
            if at[0] < -1 or at[0] > rows or at[1] < -1 or at[1] > columns:
                continue
            place = [min(max(p, 0), n - 1) for p, n in zip(at, (rows, columns))]
            low = [int(p) for p in place]
            for dy, dx in np.ndindex(2, 2):
                weight = np.prod([1 - p % 1 if d == 0 else p % 1 for p, d in zip(place, (dy, dx))])
                if weight > 0:
                    y[r, ph, pw] += weight * x[image, low[0] + dy, low[1] + dx]
    return y / points ** 2


# Shape of the map, regions, bins, points, scale, arguments.
ROIS = [("1x1x1x16", 1, (1, 1), 1, 1.0, ""), ("2x9x13x16", 7, (3, 5), 2, 0.5, "bins=2 blocks=3"),
        ("1x17x1x32", 3, (2, 2), 3, 1.0, ""), ("1x1x11x16", 5, (1, 4), 2, 0.25, ""), ("3x25x19x80", 41, (7, 7), 2, 0.0625, ""),
        ("1x38x50x272", 2, (14, 14), 2, 0.0625, "")]


def regions(cases):
    for shape, count, size, points, scale, tail in ROIS:
        for dtype, half in [("fp32", 0), ("fp32", 1), ("fp16", 1)]:
            x = cases.draw(shape, dtype)
            extent = np.array([x.shape[2], x.shape[1]]) / scale
            # Some lie in part or altogether outside, some have their corners the wrong way, some are thin.
            middle, side = cases.rng.uniform(-0.2, 1.2, (count, 2)) * extent, cases.rng.uniform(-0.1, 0.7, (count, 2)) * extent
            rois = np.concatenate([middle - side / 2, middle + side / 2], 1).astype(np.float32)
            index = cases.rng.integers(0, x.shape[0], count).astype(np.int32)
            y = aligned(x.astype(np.float64), rois, index, size, points, scale, half)
            cases.add("roi_align shape=%s regions=%d size=%dx%d points=%d scale=%g half_pixel=%d dtype=%s %s" % (
                shape, count, *size, points, scale, half, dtype, tail), {"x": x, "rois": rois, "index": index},
                {"y": rounded(y, dtype)}, (2e-3, 2e-3) if dtype == "fp16" else (2e-4, 1e-5))


GROUPS = [kept_boxes, lists, regions]

if __name__ == "__main__":
    sys.exit(main(GROUPS, __doc__))
