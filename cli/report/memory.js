// SPDX-License-Identifier: Apache-2.0
// A run's arithmetic and bytes: roofline, flow picture, traffic over time, banks of UB.

// ---- roofline ----

// The same arithmetic stands twice: against the bytes that came from HBM, under HBM's roof, and
// against all bytes that passed L2, hits included, under L2's roof. So hits never count as HBM's.
function rooflineOf(report) {
  const unit = report.compute
    .slice()
    .sort((a, b) => b.operations / b.peak_per_second - a.operations / a.peak_per_second)[0];
  if (!unit || !report.total_ps) return null;
  const top = unit.peak_per_second / 1e12,
    rate = unit.operations / report.total_ps;
  const memories = [
    {
      name: "HBM",
      hue: "red",
      amount: report.hbm.read_bytes + report.hbm.write_bytes,
      peak: report.hbm.peak_bytes_per_second,
    },
    {name: "L2", hue: "blue", amount: report.l2.bytes, peak: report.l2.peak_bytes_per_second},
  ];
  for (const memory of memories) {
    memory.intensity = memory.amount > 0 ? unit.operations / memory.amount : null;
    memory.roof = memory.intensity === null ? top : Math.min(top, (memory.intensity * memory.peak) / 1e12);
  }
  return {unit, top, rate, memories};
}

function roofTable(roofline) {
  return el(
    "div",
    {class: "scroll"},
    el(
      "table",
      {id: "roofline-table"},
      el(
        "thead",
        null,
        el(
          "tr",
          null,
          ["Memory", "Bytes", "Operations per byte", "Roof there", "Reached", "Of the roof"].map((text, i) =>
            el("th", {class: i ? "n" : null}, text),
          ),
        ),
      ),
      el(
        "tbody",
        null,
        roofline.memories.map(memory =>
          el(
            "tr",
            {"data-memory": memory.name},
            el("th", {scope: "row"}, memory.name),
            el("td", {class: "n"}, bytes(memory.amount)),
            el("td", {class: "n"}, memory.intensity === null ? "no bytes" : short(memory.intensity)),
            el("td", {class: "n"}, short(memory.roof) + " TOP/s"),
            el("td", {class: "n"}, short(roofline.rate) + " TOP/s"),
            el("td", {class: "n"}, percent(roofline.rate, memory.roof)),
          ),
        ),
      ),
    ),
  );
}

function rooflineSection(report) {
  const roofline = rooflineOf(report);
  if (!roofline)
    return section(
      "roofline",
      "Roofline",
      null,
      el("p", null, "The run has no arithmetic of the cube or the vector unit."),
    );
  const {unit, memories, top, rate} = roofline,
    placed = memories.filter(m => m.intensity !== null && m.peak > 0);
  const picture = placed.length
    ? rooflinePlot(
        placed.map(m => ({
          label: `${m.name} roof, ${short(m.peak / 1e9)} GB/s`,
          slope: m.peak / 1e12,
          top,
          hue: m.hue,
        })),
        placed.map(m => ({label: `run, by bytes of ${m.name}`, x: m.intensity, y: rate, hue: m.hue})),
        {x: "operations per byte", y: "TOP/s", label: "Roofline; the table below has its numbers"},
      )
    : null;
  return section(
    "roofline",
    "Roofline",
    `How fast the ${unit.unit === "cube" ? "cubes" : "vector units"} worked in ${unit.dtype}, below the roofs that they and the memories set. ` +
      "The point of HBM counts the bytes of this run that HBM moved; the point of L2 counts all bytes that passed L2, hits too. " +
      "A point close to its own roof is bound by that memory; a point far below both waits for something else.",
    picture,
    roofTable(roofline),
  );
}

// ---- bytes ----

function bytesSection(report) {
  return section(
    "bytes",
    "Bytes by path",
    "From device memory through L2 into the buffers of the cores, and back. The width is the number of bytes. What the cube adds up in L0C and the vector unit computes in UB is not a copy.",
    flowPicture(report),
    dataTable(
      [
        {title: "Path", key: "name"},
        {title: "Bytes", number: true, key: "bytes", text: p => bytes(p.bytes)},
        {title: "Copies", number: true, key: "instructions", text: p => grouped(p.instructions)},
        {
          title: "Each",
          number: true,
          value: p => p.bytes / p.instructions,
          text: p => bytes(Math.round(p.bytes / p.instructions)),
        },
        {
          title: "GB/s",
          number: true,
          value: p => p.bytes,
          text: p => short(gigabytes(p.bytes, report.total_ps)),
        },
        {
          title: "Of peak",
          number: true,
          value: p => p.bytes / (p.peak_bytes_per_second || Infinity),
          text: p =>
            p.peak_bytes_per_second
              ? percent((p.bytes / report.total_ps) * 1e12, p.peak_bytes_per_second)
              : "-",
        },
      ],
      report.paths,
      {id: "path-table"},
    ),
  );
}

function trafficSection(report) {
  const over = report.over_time,
    names = Object.keys(over.paths);
  const rate = (list, step) => list.map(n => gigabytes(n, step));
  if (!names.length && !over.hbm_read)
    return section("traffic", "Traffic over time", null, el("p", null, "No transfers were recorded."));
  const gm = names.filter(name => /GM/.test(name)),
    inside = names.filter(name => !/GM/.test(name));
  const lines = list =>
    list.map((name, i) => ({
      label: name + " GB/s",
      values: rate(over.paths[name], over.step_ps),
      hue: hues[i % hues.length],
    }));
  const hbm = over.hbm_read
    ? [
        {label: "HBM read GB/s", values: rate(over.hbm_read, over.hbm_step_ps), hue: "red"},
        {label: "HBM written GB/s", values: rate(over.hbm_write, over.hbm_step_ps), hue: "blue"},
      ]
    : [];
  const draw = (title, about, list, step) =>
    list.length
      ? el(
          "div",
          null,
          el("h3", null, title),
          el("p", {class: "faint"}, about),
          linePlot(
            list[0].values.map((_, i) => (i * step) / 1e6),
            list,
            {x: "\u00b5s", y: "GB/s", stepped: true, label: title},
          ),
        )
      : null;
  const peak = `Peak ${short(report.hbm.peak_bytes_per_second / 1e9)} GB/s. Busiest link of the network: used ${(report.noc.max_link_ppm / 1e4).toFixed(1)} % of the time.`;
  return section(
    "traffic",
    "Traffic over time",
    "Drag over a stretch of time to zoom in, double click to zoom out.",
    el(
      "div",
      {class: "two"},
      draw("Device memory (HBM)", peak, hbm, over.hbm_step_ps),
      draw(
        "L2 and network",
        `Transfers of the cores from and to GM: all pass the network and L2, whose peak is ${short(report.l2.peak_bytes_per_second / 1e9)} GB/s.`,
        lines(gm),
        over.step_ps,
      ),
      draw(
        "Inside the cores",
        "Transfers between buffers, of all cores together.",
        lines(inside),
        over.step_ps,
      ),
    ),
  );
}

// ---- banks ----

function banksSection(report) {
  const cores = report.cores.filter(core => core.bank_cycles + core.bank_group_cycles > 0);
  if (!cores.length)
    return section(
      "banks",
      "Bank conflicts of UB",
      null,
      el("p", {id: "no-banks"}, "No vector instruction lost a cycle to banks."),
    );
  const most = Math.max(...cores.map(core => core.bank_cycles + core.bank_group_cycles));
  const lines = report.hotspots
    .filter(row => row.bank_cycles > 0)
    .sort((a, b) => b.bank_cycles - a.bank_cycles);
  const sum = key => cores.reduce((total, core) => total + core[key], 0);
  return section(
    "banks",
    "Bank conflicts of UB",
    "Cycles that vector instructions lose: rows of 32 bytes that want the same group of banks, and reads that meet a write in a bank.",
    el(
      "p",
      {id: "bank-sums"},
      `In a group: ${grouped(sum("bank_group_cycles"))} cycles of all cores. With a write in the same bank: ${grouped(sum("bank_cycles"))} cycles.`,
    ),
    el(
      "div",
      {class: "two"},
      el(
        "div",
        null,
        el("h3", null, "By core"),
        dataTable(
          [
            {title: "Core", key: "name"},
            {
              title: "In a group",
              number: true,
              key: "bank_group_cycles",
              text: c => grouped(c.bank_group_cycles),
            },
            {title: "With a write", number: true, key: "bank_cycles", text: c => grouped(c.bank_cycles)},
            {
              title: "",
              value: () => "",
              cell: c =>
                el(
                  "div",
                  {style: "width:9rem"},
                  shareBar(
                    [
                      {amount: c.bank_group_cycles, colour: "var(--red)", text: "group"},
                      {amount: c.bank_cycles, colour: "var(--sky)", text: "write"},
                    ],
                    most,
                  ),
                ),
            },
          ],
          cores,
          {shown: 10, sort: 1},
        ),
      ),
      el(
        "div",
        null,
        el("h3", null, "By line"),
        dataTable(
          [
            {title: "Line", key: "line", number: true},
            {title: "Lost", number: true, key: "bank_cycles", text: r => grouped(r.bank_cycles)},
            {
              title: "Of its cycles",
              number: true,
              value: r => r.bank_cycles / r.cycles,
              text: r => percent(r.bank_cycles, r.cycles),
            },
            {title: "Text", value: r => r.text || r.instruction, code: true},
          ],
          lines,
          {shown: 10},
        ),
      ),
    ),
    keyList([
      ["rows that want the same group", "var(--red)"],
      ["reads that meet a write", "var(--sky)"],
    ]),
  );
}
