# SPDX-License-Identifier: Apache-2.0
"""A training whose units fail, checkpoint by checkpoint: the reference of `vinci group train`.

Written from the description in devices/flow/training.h; what the program jumps over in one division, this walks.
Usage: training.py work interval blocking writing mtbf detect restart repair units spares shrink seed runs (seconds);
prints the mean of each part and of the time, and the failures of a run.
"""
import math
import sys

MASK = (1 << 64) - 1


def mixed(state):
    state = (state + 0x9E3779B97F4A7C15) & MASK
    x = state
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & MASK
    return state, x ^ x >> 31


class Training:
    def __init__(self, numbers, number):
        (self.work, self.interval, self.blocking, self.writing, self.mtbf, self.detect, self.restart, self.repair,
         self.units, self.spares, self.shrink, seed) = numbers
        self.random = mixed(int(seed))[1] ^ mixed(number)[1]
        self.now, self.saved, self.active = 0.0, 0.0, self.units
        self.repairs, self.failures = [], 0
        self.parts = dict.fromkeys(("work", "slower", "checkpoint", "lost", "detect", "wait", "restart"), 0.0)

    def spend(self, part, seconds):
        self.parts[part] += seconds
        self.now += seconds

    def draw(self):
        self.random, bits = mixed(self.random)
        return -math.log(((bits >> 1) + 1) / 2.0 ** 63) * self.mtbf / self.active

    def back(self):
        self.repairs.pop(0)
        if self.active < self.units:
            self.active += 1
        else:
            self.spares += 1

    def fail(self):
        self.failures += 1
        self.repairs.append(self.now + self.repair)
        self.active -= 1
        self.spend("detect", self.detect)
        while self.repairs and self.repairs[0] <= self.now:
            self.back()
        while self.active < self.units and self.spares:
            self.active, self.spares = self.active + 1, self.spares - 1
        while self.active < (1 if self.shrink else self.units):
            self.spend("wait", self.repairs[0] - self.now)
            self.back()

    def walk(self, failure):
        """Works until all is done (True), or to the next restart; failure is seconds from now."""
        begin, kept, taken, at, slower = self.now, self.saved, [], self.now, self.units / self.active
        done = self.saved
        while True:
            piece = min(self.interval, self.work - done)
            last = done + piece >= self.work - 1e-9
            at += piece * slower
            at += self.blocking
            done += piece
            taken.append((at + self.writing, at, done))
            join = (self.repairs and self.active < self.units and self.repairs[0] <= taken[-1][0] and not last)
            if join or last or taken[-1][0] > begin + failure:
                break
        usable = [one for one in taken if one[0] <= begin + failure]
        if usable:
            written, end, kept = usable[-1]
            work = kept - self.saved
            ends = usable[-1] is taken[-1] and (join or last)
            spent = (written if ends else end) - begin
            self.spend("work", work)
            self.spend("slower", work * slower - work)
            self.spend("checkpoint", spent - work * slower)
            self.saved = kept
            if ends:
                while self.repairs and self.repairs[0] <= self.now:
                    self.back()
                return
        self.spend("lost", begin + failure - self.now)
        self.fail()

    def run(self):
        restarts = False
        while self.saved < self.work - 1e-9:
            failure = self.draw()
            if restarts and failure < self.restart:
                self.spend("restart", failure)
                self.fail()
                continue
            if restarts:
                self.spend("restart", self.restart)
                failure -= self.restart
            self.walk(failure)
            restarts = True
        return self


def main():
    numbers = [float(word) for word in sys.argv[1:13]]
    for i in (8, 9, 10, 11):
        numbers[i] = int(numbers[i])
    count, sums, failures = int(sys.argv[13]), {}, 0
    for number in range(count):
        one = Training(numbers, number).run()
        failures += one.failures
        for part, seconds in one.parts.items():
            sums[part] = sums.get(part, 0) + seconds
    print(sum(sums.values()) / count, failures / count, *[sums[part] / count for part in sums])


main()
