// SPDX-License-Identifier: Apache-2.0
// A run: what bounds it, what to try, pipes, causes, hot spots, cores.

function causeName(turn) {
  return turn.path ? `${turn.path}: ${turn.cause}` : turn.cause;
}

function turnText(turn, total) {
  if (!turn.number || (!turn.saved_cycles && !turn.measured)) return "no number of the chip to turn";
  const change = `${turn.measured ? "" : "about "}${percent(Math.abs(turn.saved_cycles), total)}`;
  return [el("code", null, turn.number), ` ${turn.turn}: ${turn.saved_cycles < 0 ? "costs" : "saves"} ${change}`];
}

function promiseOrigin(turn, total) {
  if (!turn.measured) return "estimate; --savings=all of vinci run measures";
  if (turn.anew_saved_cycles === undefined || turn.anew_saved_cycles === turn.saved_cycles) return "measured";
  const size = percent(Math.abs(turn.anew_saved_cycles), total);
  return `measured; with the tiling that is then chosen the run takes ${size} ${turn.anew_saved_cycles < 0 ? "more" : "less"}`;
}

function kernelNames(report) {
  const names = report.kernels.map(kernel => kernel.name);
  return names.length > 4 ? `${names.slice(0, 4).join(", ")} and ${names.length - 4} more` : names.join(", ");
}

// What one lever does to the run: an expected or a measured share, the option that shows the saving again.
function leverItem(lever, saved, total) {
  return el(
    "li",
    null,
    el("b", null, lever.lever),
    `: ${lever.text}, the run ${lever.change ? "takes" : "is expected to take"} `,
    el("b", null, percent(Math.abs(saved), total)),
    ` ${saved < 0 ? "more" : "less"} (${lever.origin}`,
    lever.change ? [": ", el("code", null, lever.change)] : "",
    ").",
  );
}

// What a kernel can do, the largest saving first.
function leverList(levers, total) {
  return el("ul", {id: "levers"}, levers.map(lever => leverItem(lever, lever.saved_cycles, total)));
}

// A lever whose run met a limit.
function unmeasuredItem(lever) {
  return el("li", null, el("b", null, lever.lever), `: ${lever.text} (${lever.origin}: `, el("code", null, lever.change), ").");
}

// Of a network or a job, all measured: what saves, then what is done already and saves.
function leverSection(summary) {
  const levers = summary.levers;
  if (!levers) return null;
  const list = (id, chosen) => el("ul", {id}, chosen.map(lever => leverItem(lever, lever.saved_us, summary.time_us)));
  const saving = levers.filter(lever => lever.saved_us > 0),
    kept = levers.filter(lever => lever.saved_us < 0),
    limited = summary.levers_not_measured || [];
  return section(
    "try",
    "What to try",
    "Each was measured by a run with that one thing changed; the option shows it again.",
    saving.length ? list("levers", saving) : el("p", {id: "levers"}, "Nothing that was tried makes the run shorter."),
    kept.length ? el("h3", null, "What is done already, and saves") : "",
    kept.length ? list("levers-kept", kept) : "",
    limited.length ? el("h3", null, "What was not measured") : "",
    limited.length ? el("ul", {id: "levers-limited"}, limited.map(unmeasuredItem)) : "",
    summary.levers_untried ? el("p", null, `Not tried: ${summary.levers_untried}.`) : "",
  );
}

// What the instructions of the critical path have found: caches, L2, their own pipe.
function stateText(state, total) {
  if (!state) return ""; // of an earlier build
  const told = [
    ["code_cycles", "wait for code that the cache does not hold"],
    ["cold_l2_cycles", "fetch what L2 has not held before"],
    ["refetch_cycles", "fetch what L2 has dropped"],
    ["scalar_cycles", "are scalar work and accesses"],
    ["dependent_vector_cycles", "are waits of the vector unit for the instruction before (pipe_barrier)"],
  ]
    .filter(([key]) => state[key] * 200 >= total)
    .map(([key, text]) => `${percent(state[key], total)} ${text}`);
  return told.length ? `Of the run ${told.join(", ")}.` : "";
}

// ---- the first section ----

function answerList(report) {
  const critical = report.critical,
    total = report.total_cycles,
    rows = [];
  const add = (term, id, ...text) => rows.push(el("dt", null, term), el("dd", {id}, ...text));
  add("What bounds it", "bound", el("b", null, report.bound), `: ${report.bound_reason}.`);
  if (critical) {
    const best = critical.best,
      words = report.words.causes[best.cause];
    add(
      "The cause",
      "cause",
      el("b", null, causeName(best)),
      `: ${percent(best.cycles, total)} of the run, on the critical path, are cycles that ${words.text}.`,
    );
    add(
      "To try in the kernel",
      "advice",
      words.advice,
      critical.levers && critical.levers.length ? leverList(critical.levers, total) : "",
    );
    const found = stateText(critical.state, total);
    if (found) add("What it found", "state", found);
    if (best.number && best.saved_cycles > 0)
      add(
        "To try in the chip",
        "turn",
        el("code", null, best.number),
        ` ${best.turn} is expected to save `,
        el("b", {id: "saving"}, percent(best.saved_cycles, total)),
        ` of the run: ${grouped(best.saved_cycles)} cycles (${promiseOrigin(best, total)}).`,
        best.next_permille
          ? ` Then pipe ${best.next_pipe} bounds next, busy ${percent(best.next_permille, 1000)} of the time.`
          : "",
      );
  } else {
    add("The cause", "cause", "not known: no instructions were recorded (--timeline-events).");
  }
  return el("dl", {class: "answer"}, rows);
}

function fact(id, value, text) {
  return el("div", {class: "fact"}, el("b", {id}, value), el("span", null, text));
}

function factList(report) {
  const expected = report.expected_error,
    gm = report.l2.bytes;
  const facts = [
    fact("duration", micros(report.total_ps), "duration, launch included"),
    fact("cycles", grouped(report.total_cycles), `cycles at ${grouped(report.core_hz / 1e6)} MHz`),
  ];
  for (const kind of report.kinds.filter(kind => kind.active))
    facts.push(
      fact(
        "cores-" + kind.kind,
        `${kind.active} of ${kind.present}`,
        `${kind.kind} cores had work; ${grouped(report.blocks)} blocks`,
      ),
    );
  for (const unit of report.compute) {
    const rate = unit.operations / report.total_ps;
    facts.push(
      fact(
        "compute-" + unit.unit,
        `${short(rate)} TOP/s`,
        `${unit.unit}, ${percent(rate * 1e12, unit.peak_per_second)} of its peak in ${unit.dtype}`,
      ),
    );
  }
  const hbm = report.hbm.read_bytes + report.hbm.write_bytes;
  facts.push(
    fact(
      "hbm-rate",
      `${short(gigabytes(hbm, report.total_ps))} GB/s`,
      `HBM, ${percent((hbm / report.total_ps) * 1e12, report.hbm.peak_bytes_per_second)} of its peak`,
    ),
  );
  if (gm)
    facts.push(
      fact(
        "hits",
        percent(report.l2.read_hit_bytes + report.l2.write_hit_bytes, gm),
        "of the bytes that passed L2 were hits",
      ),
    );
  if (expected.rows)
    facts.push(
      fact(
        "expected",
        `\u00b1 ${(expected.median_permille / 10).toFixed(1)} %`,
        `half of ${expected.rows} measured rows of class ${expected.class} are within this, 9 of 10 within ${(expected.p90_permille / 10).toFixed(1)} %`,
      ),
    );
  return el("div", {class: "facts"}, facts);
}

function warnings(report) {
  const list = [];
  if (report.partial)
    list.push(`The results are partial: ${report.partial_reason || "the run was stopped early"}.`);
  if (report.waits_left_out)
    list.push(
      "Scalar code waits for other cores through memory (dcci); the time of these waits is left out.",
    );
  if (report.noc_past_model)
    list.push(
      "The busiest link is loaded past 60 %, where the packet level is optimistic; use --network=flit.",
    );
  if (report.expected_error.outside)
    list.push(`Not calibrated against measurements: ${report.expected_error.outside}.`);
  const changed = Object.entries(report.changed);
  if (changed.length)
    list.push(
      `Changed numbers of the chip: ${changed.map(([key, value]) => `${key} = ${value}`).join(", ")}.`,
    );
  return list.map(text => el("p", {class: "warn"}, text));
}

// of: of two runs, the name of the one that is shown.
function firstSection(report, of) {
  return section(
    "first",
    `What bounds ${of || "this run"}, and what to try`,
    of ? `This and what follows is of ${of} alone.` : null,
    el(
      "p",
      {class: "lead"},
      el("b", null, kernelNames(report)),
      ` on ${report.soc}: `,
      el("b", null, micros(report.total_ps)),
      `, ${report.bound === "none" ? "not bound" : report.bound + " bound"}.`,
    ),
    answerList(report),
    warnings(report),
    factList(report),
  );
}

// ---- pipes ----

function stallColour(index) {
  return [
    "var(--wait)",
    "var(--sky)",
    "var(--pink)",
    "var(--yellow)",
    "var(--red)",
    "var(--orange)",
    "var(--grey)",
  ][index % 7];
}

function pipeTable(report, kind) {
  const stalls = Object.keys(report.words.stalls);
  const used = stalls.filter(key => Object.values(kind.pipes).some(pipe => pipe.stalls[key]));
  const rows = Object.entries(kind.pipes).map(([name, pipe]) => {
    const parts = [
      {amount: pipe.busy_cycles, colour: "var(--blue)", text: "busy"},
      ...used.map((key, i) => ({amount: pipe.stalls[key] || 0, colour: stallColour(i), text: key})),
    ];
    return el(
      "tr",
      null,
      el("th", {scope: "row", title: report.words.pipes[name]}, name),
      el("td", {class: "n", id: `busy-${kind.kind}-${name}`}, percent(pipe.busy_cycles, pipe.total_cycles)),
      el("td", {class: "n"}, grouped(pipe.instructions)),
      el("td", null, report.words.pipes[name]),
      el("td", null, shareBar(parts, pipe.total_cycles)),
    );
  });
  return [
    el("h3", null, `${kind.kind} cores with work: ${kind.active} of ${kind.present}`),
    el(
      "div",
      {class: "scroll"},
      el(
        "table",
        {class: "bars"},
        el(
          "thead",
          null,
          el(
            "tr",
            null,
            el("th", null, "Pipe"),
            el("th", {class: "n"}, "Busy"),
            el("th", {class: "n"}, "Instructions"),
            el("th", null, "What it does"),
            el("th", null, "Share of the run"),
          ),
        ),
        el("tbody", null, rows),
      ),
    ),
    keyList([
      ["busy", "var(--blue)"],
      ...used.map((key, i) => [`${key}: ${report.words.stalls[key]}`, stallColour(i)]),
      ["no instruction", "var(--panel)"],
    ]),
  ];
}

function pipesSection(report) {
  return section(
    "pipes",
    "Utilization of the pipes",
    "Each pipe works through its instructions in order. Shares are of the whole run, over the cores that had work.",
    report.kinds.filter(kind => kind.active).map(kind => pipeTable(report, kind)),
  );
}

// ---- causes ----

function criticalTable(report) {
  const critical = report.critical,
    total = report.total_cycles;
  const rows = critical.turns.map(turn => ({
    ...turn,
    name: causeName(turn),
    about: report.words.causes[turn.cause].text,
  }));
  const told =
    rows.reduce((sum, row) => sum + row.cycles, 0) +
    critical.rests.reduce((sum, rest) => sum + rest.cycles, 0);
  const rest = (name, cycles) => {
    if (cycles > 0) rows.push({name, about: "", rest: true, cycles, saved_cycles: 0});
  };
  for (const part of critical.rests) rest(part.text, part.cycles);
  rest("all smaller causes", total - told);
  return dataTable(
    [
      {title: "Share", number: true, value: row => row.cycles, text: row => percent(row.cycles, total)},
      {title: "Cycles", number: true, value: row => row.cycles, text: row => grouped(row.cycles)},
      {title: "Cause", value: row => row.name},
      {
        title: "",
        value: row => "",
        cell: row =>
          el(
            "div",
            {style: "width:9rem"},
            shareBar(
              [{amount: row.cycles, colour: row.rest ? "var(--wait)" : "var(--orange)", text: row.name}],
              total,
            ),
          ),
      },
      {title: "Cycles that ...", value: row => row.about},
      {
        title: "Number to turn, change",
        number: true,
        value: row => (row.number ? row.saved_cycles : ""),
        cell: row => (row.number ? turnText(row, total) : ""),
      },
    ],
    rows,
    {id: "critical-table", sort: 5, shown: 12},
  );
}

function causeBars(report) {
  const rows = [];
  for (const kind of report.kinds)
    for (const [name, pipe] of Object.entries(kind.pipes)) {
      if (!pipe.busy_cycles) continue;
      const causes = Object.entries(pipe.causes).sort((a, b) => b[1] - a[1]);
      const text = causes
        .filter(([, n]) => n >= pipe.busy_cycles / 100)
        .map(([key, n]) => `${key} ${percent(n, pipe.busy_cycles)}`)
        .join(", ");
      rows.push(
        el(
          "tr",
          null,
          el("th", {scope: "row"}, `${kind.kind} ${name}`),
          el("td", {class: "n"}, grouped(pipe.busy_cycles)),
          el("td", null, text),
          el(
            "td",
            null,
            shareBar(
              causes.map(([key, n], i) => ({amount: n, colour: hue(i), text: key})),
              pipe.busy_cycles,
            ),
          ),
        ),
      );
    }
  return el(
    "div",
    {class: "scroll"},
    el(
      "table",
      {class: "bars", id: "cause-table"},
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          el("th", null, "Pipe"),
          el("th", {class: "n"}, "Busy cycles"),
          el("th", null, "Spent on"),
          el("th", null, "Shares, the largest cause first"),
        ),
      ),
      el("tbody", null, rows),
    ),
  );
}

function wordTable(report) {
  return el(
    "details",
    null,
    el("summary", null, "All causes in words"),
    dataTable(
      [
        {title: "Cause", key: "key"},
        {title: "Cycles of a pipe that ...", key: "text"},
        {title: "What to try in a kernel", key: "advice"},
      ],
      Object.entries(report.words.causes).map(([key, words]) => ({key, ...words})),
      {filter: "filter causes"},
    ),
  );
}

function causesSection(report) {
  return section(
    "causes",
    "Causes: where the time went, and why",
    null,
    report.critical
      ? [
          el(
            "h3",
            null,
            `Critical path of ${report.critical.core}, the core that ends last: each cycle of the run once`,
          ),
          criticalTable(report),
        ]
      : el("p", null, "Without recorded instructions there is no critical path (--timeline-events)."),
    el("h3", null, "What the busy cycles of each pipe were spent on"),
    causeBars(report),
    wordTable(report),
  );
}

// ---- hot spots ----

function hotspotsSection(report) {
  const total = report.total_cycles,
    any = test => report.hotspots.slice(0, 10).some(test);
  const waits = row =>
    Object.entries(row.stalls)
      .map(([key, n]) => `${key} ${grouped(n)}`)
      .join(", ");
  const about = report.has_source
    ? `Lines of ${report.trace}, with their text.`
    : "The text of the trace was not at hand when the run was kept; line numbers are those of " +
      (report.trace || "the trace") +
      ".";
  return section(
    "hotspots",
    "Hot spots by line",
    about + " Critical cycles are of the core that ends last, each once; the other cycles are of all cores.",
    dataTable(
      [
        {title: "Line", key: "line", number: true},
        {title: "Critical", number: true, key: "critical_cycles", text: row => grouped(row.critical_cycles)},
        {
          title: "Of run",
          number: true,
          value: row => row.critical_cycles,
          text: row => percent(row.critical_cycles, total),
        },
        {title: "Pipe", key: "pipe"},
        {
          title: report.has_source ? "Text of the line" : "Instruction",
          value: row => row.text || row.instruction,
          code: true,
        },
        {title: "Times", number: true, key: "count", text: row => grouped(row.count)},
        {
          title: "Cycles",
          number: true,
          key: "cycles",
          text: row => grouped(row.cycles),
          about: "from start to end, of all cores",
        },
        {
          title: "In queue",
          number: true,
          key: "queued_cycles",
          text: row => grouped(row.queued_cycles),
          about: "before the start",
        },
        any(row => row.bank_cycles)
          ? {title: "Bank loss", number: true, key: "bank_cycles", text: row => grouped(row.bank_cycles)}
          : null,
        {title: "Bytes", number: true, key: "bytes", text: row => (row.bytes ? bytes(row.bytes) : "")},
        any(waits) ? {title: "Waits for", value: waits} : null,
      ].filter(Boolean),
      report.hotspots,
      {filter: "filter by line, pipe, instruction, text", shown: 10, id: "hotspot-table"},
    ),
    report.hotspots_left_out
      ? el("p", {class: "faint"}, `${report.hotspots_left_out} cooler lines are in hotspots.csv.`)
      : null,
  );
}

// ---- cores and kernels ----

function coresSection(report) {
  const pipes = [...new Set(report.cores.flatMap(core => Object.keys(core.busy)))];
  return section(
    "cores",
    "Cores and kernels",
    "Busy share of each pipe, of the cores that had a block.",
    dataTable(
      [
        {title: "Core", key: "name"},
        {title: "Blocks", key: "blocks", number: true},
        {
          title: "Active",
          number: true,
          value: core => core.active_cycles,
          text: core => percent(core.active_cycles, core.total_cycles),
        },
        ...pipes.map(pipe => ({
          title: pipe,
          number: true,
          value: core => core.busy[pipe] || 0,
          text: core => (pipe in core.busy ? percent(core.busy[pipe], core.total_cycles) : "-"),
        })),
      ],
      report.cores,
      {shown: 8},
    ),
    dataTable(
      [
        {title: "Kernel", key: "name"},
        {title: "Blocks", key: "blocks", number: true},
        {title: "Start", number: true, value: k => k.start_ps, text: k => micros(k.start_ps)},
        {
          title: "Duration",
          number: true,
          value: k => k.end_ps - k.start_ps,
          text: k => micros(k.end_ps - k.start_ps),
        },
      ],
      report.kernels,
      {shown: 20},
    ),
  );
}
