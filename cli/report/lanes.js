// SPDX-License-Identifier: Apache-2.0
// Slices of the timeline in typed arrays, and how much of any stretch of time they fill.
//
// A lane keeps sums of the time of its slices up to each: what a pixel shows, whether of one slice or
// of thousands, is a difference of two sums. So drawing takes time by pixels, not by slices.

class Lane {
  constructor(data, kinds, core, pipe) {
    const numbers = data.slices,
      count = numbers.length / 3,
      us = 1e6 / data.hz;
    this.core = core;
    this.pipe = pipe;
    this.us = us;
    this.count = count;
    this.start = new Float64Array(count);
    this.end = new Float64Array(count);
    this.kind = new Uint32Array(count);
    this.work = new Float64Array(count + 1);
    this.wait = new Float64Array(count + 1);
    this.match = null;
    let at = 0;
    for (let i = 0; i < count; i++) {
      at += numbers[3 * i];
      const cycles = numbers[3 * i + 1],
        waits = kinds[numbers[3 * i + 2]].waits;
      this.start[i] = at * us;
      at += cycles;
      this.end[i] = at * us;
      this.kind[i] = numbers[3 * i + 2];
      this.work[i + 1] = this.work[i] + (waits ? 0 : cycles * us);
      this.wait[i + 1] = this.wait[i] + (waits ? cycles * us : 0);
    }
  }

  // The first slice that ends after a time, searched from a slice that does not.
  find(time, low = 0) {
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > time) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  // The same from a slice nearby: doubles its steps, so that far and near cost little.
  seek(time, from) {
    let step = 1,
      low = from;
    while (low < this.count && this.end[low] <= time) {
      const next = Math.min(low + step, this.count);
      if (next < this.count && this.end[next] <= time) {
        low = next;
        step *= 2;
      } else {
        let high = next;
        low++;
        while (low < high) {
          const middle = (low + high) >> 1;
          if (this.end[middle] > time) high = middle;
          else low = middle + 1;
        }
        return low;
      }
    }
    return low;
  }

  // Time up to `time` that counts in a sum; index is that of find(time).
  until(sum, time, index) {
    let amount = sum[index];
    if (index < this.count && this.start[index] < time && sum[index + 1] > amount)
      amount += time - this.start[index];
    return amount;
  }

  // Which slices a filter keeps, as a sum of their time; null: no filter.
  filter(kept) {
    if (!kept) {
      this.match = null;
      return 0;
    }
    this.match = new Float64Array(this.count + 1);
    let found = 0;
    for (let i = 0; i < this.count; i++) {
      const takes = kept[this.kind[i]];
      found += takes;
      this.match[i + 1] = this.match[i] + (takes ? this.end[i] - this.start[i] : 0);
    }
    return found;
  }

  // The slice at a time, or -1.
  at(time) {
    const index = this.find(time);
    return index < this.count && this.start[index] <= time ? index : -1;
  }
}

function readKinds(list) {
  return list.map(([line, instruction, path, amount, cause, waits]) => ({
    line,
    instruction,
    path,
    bytes: amount,
    cause,
    waits: !!waits,
    text: `line ${line} ${instruction} ${path} ${cause}`.toLowerCase(),
  }));
}

function readLanes(slices) {
  const kinds = readKinds(slices.kinds);
  const lanes = slices.lanes.map(data => new Lane(data, kinds, data.core, data.pipe));
  return {kinds, lanes, count: lanes.reduce((sum, lane) => sum + lane.count, 0)};
}

// What a filter keeps of the kinds, as bytes of 0 and 1. A number stands for a line of the trace.
function keptKinds(kinds, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const tests = words.map(word =>
    /^\d+$/.test(word) ? kind => kind.line === +word : kind => kind.text.includes(word),
  );
  return Uint8Array.from(kinds, kind => (tests.every(test => test(kind)) ? 1 : 0));
}
