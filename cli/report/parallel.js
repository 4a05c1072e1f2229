// SPDX-License-Identifier: Apache-2.0
// Parallel coordinates of a sweep over several parameters: an axis for each of them and one for a result, a line for
// each point. Axes lie below one another, so that the picture fits any width.

const AXIS_STEP = 72, // pixels from an axis to the next
  AXIS_TOP = 30,
  AXIS_SIDE = 14,
  AXIS_BAND = 0.8, // of the room of a value its band takes
  AXIS_TEXT_GAP = 12,
  LINES_SHOWN = 2000;

// Classes of points by the order of their results. Their place says the same as the colour.
const thirds = [
  {text: "lowest third of the points", hue: "blue"},
  {text: "middle third", hue: "grey"},
  {text: "highest third", hue: "orange"},
];

// A choice of values of one parameter: a word of the list, and which rows it keeps.
function parallelChoices(sweep, name) {
  const values = [...new Set(sweep.done.map(row => row[name]))],
    told = value => value || "as it is";
  if (!sweep.numbers.includes(name)) return values.map(value => ({text: told(value), keeps: row => row[name] === value}));
  const order = values.filter(value => value !== "").sort((a, b) => amountOf(a) - amountOf(b)),
    rest = values.filter(value => value === "");
  const equal = [...order, ...rest].map(value => ({text: told(value), keeps: row => row[name] === value}));
  const limits = order.slice(1, -1).map(value => ({
    text: `at most ${value}`,
    keeps: row => row[name] !== "" && amountOf(row[name]) <= amountOf(value),
  }));
  return [...equal, ...limits];
}

// Rows with a result, and the place of each among these, 0 to 1; equal results have one place.
function parallelRanks(sweep, result) {
  const order = sweep.done.filter(row => isNumber(row[result])).sort((a, b) => a[result] - b[result]),
    places = new Map();
  let first = 0;
  order.forEach((row, i) => {
    if (+row[result] !== +order[first][result]) first = i;
    places.set(row, order.length > 1 ? first / (order.length - 1) : 0.5);
  });
  return places;
}

// An axis with the place of each row on it, 0 to 1, and its ticks {from, to, text}. A value of a parameter has a
// band; in a band the points stand by their result, so no line hides another.
function parallelAxis(sweep, name, ranks) {
  if (!sweep.params.includes(name)) {
    const all = [...ranks.keys()].map(row => +row[name]),
      low = Math.min(...all),
      high = Math.max(...all),
      at = value => (high > low ? (value - low) / (high - low) : 0.5);
    return {
      name,
      title: axisName(name),
      at: row => at(+row[name]),
      ticks: [...new Set([low, (low + high) / 2, high])].map(value => ({from: at(value), to: at(value), text: short(value)})),
    };
  }
  const values = [...new Set(sweep.done.map(row => row[name]))];
  if (sweep.numbers.includes(name)) values.sort((a, b) => (a === "") - (b === "") || amountOf(a) - amountOf(b));
  const at = (value, place) => (values.indexOf(value) + 0.5 + (place - 0.5) * AXIS_BAND) / values.length;
  return {
    name,
    title: name,
    at: row => at(row[name], ranks.get(row)),
    ticks: values.map(value => ({from: at(value, 0), to: at(value, 1), text: value || "as it is"})),
  };
}

// Texts of an axis, those left out that would touch the one before; the last always stands.
function parallelTicks(axis, y, span) {
  const letter = 7,
    place = tick => AXIS_SIDE + ((tick.from + tick.to) / 2) * span,
    half = tick => (tick.text.length * letter) / 2,
    last = axis.ticks[axis.ticks.length - 1];
  let end = -Infinity;
  return axis.ticks.flatMap(tick => {
    const x = place(tick),
      fits =
        tick === last || (x - half(tick) > end + AXIS_TEXT_GAP && x + half(tick) < place(last) - half(last) - AXIS_TEXT_GAP);
    if (fits) end = x + half(tick);
    // What would leave the picture begins or ends at its edge.
    const anchor = x - half(tick) < 0 ? "start" : x + half(tick) > span + 2 * AXIS_SIDE ? "end" : "middle",
      textX = anchor === "start" ? 0 : anchor === "end" ? span + 2 * AXIS_SIDE : x;
    return [
      svg("rect", {x: AXIS_SIDE + tick.from * span - 1, y: y - 2, width: (tick.to - tick.from) * span + 2, height: 4, fill: "var(--text)"}),
      fits ? svg("text", {x: textX, y: y + 17, class: "rim", "text-anchor": anchor}, tick.text) : null,
    ];
  });
}

function parallelLine(axes, row, span, attributes, ...children) {
  const places = axes.map((axis, i) => `${(AXIS_SIDE + axis.at(row) * span).toFixed(1)},${AXIS_TOP + i * AXIS_STEP}`);
  return svg("polyline", {points: places.join(" "), fill: "none", ...attributes}, ...children);
}

// rows: those that are chosen; best: of these the fastest.
function parallelPicture(sweep, result, rows, best, width) {
  const span = width - 2 * AXIS_SIDE,
    ranks = parallelRanks(sweep, result),
    axes = [...sweep.varied, result].map(name => parallelAxis(sweep, name, ranks)),
    kept = new Set(rows),
    classOf = row => thirds[Math.min(thirds.length - 1, Math.floor(ranks.get(row) * thirds.length))],
    known = [...ranks.keys()],
    order = [...known.filter(row => !kept.has(row)), ...known.filter(row => kept.has(row))].slice(-LINES_SHOWN);
  if (!ranks.has(best)) best = null;
  const mark = (axis, i) =>
    svg("circle", {cx: AXIS_SIDE + axis.at(best) * span, cy: AXIS_TOP + i * AXIS_STEP, r: 5, fill: "var(--red)"});
  return svg(
    "svg",
    {
      width,
      height: AXIS_TOP + axes.length * AXIS_STEP - 30,
      role: "img",
      "aria-label": `${rows.length} of ${sweep.done.length} points over ${axes.map(axis => axis.name).join(", ")}`,
    },
    order.map(row =>
      parallelLine(
        axes,
        row,
        span,
        {
          class: kept.has(row) ? "kept" : "left",
          stroke: kept.has(row) ? `var(--${classOf(row).hue})` : "var(--line)",
          "stroke-width": 1.5,
          "stroke-opacity": kept.has(row) ? 0.75 : 0.5,
        },
        svg("title", null, `${pointText(sweep, row)}: ${axisName(result)} ${row[result]}`),
      ),
    ),
    best ? [parallelLine(axes, best, span, {class: "best", stroke: "var(--red)", "stroke-width": 4}), axes.map(mark)] : null,
    axes.map((axis, i) => {
      const y = AXIS_TOP + i * AXIS_STEP;
      return [
        svg("line", {x1: AXIS_SIDE, x2: width - AXIS_SIDE, y1: y, y2: y, stroke: "var(--text)"}),
        svg("text", {x: 0, y: y - 9, "font-weight": 600, class: "rim"}, axis.title),
        parallelTicks(axis, y, span),
      ];
    }),
  );
}

// "24 of 54 points; the fastest of these: l2.size = 24MiB, ... with 45 558 cycles, 58.0 % more than the fastest of all."
function parallelText(sweep, rows, best, fastest) {
  const {name, text} = sweep.measure;
  if (!best) return "No point has all of these values.";
  const over = +best[name] / fastest[name] - 1,
    all = rows.length === sweep.done.length;
  return [
    all ? `All ${rows.length} points; the fastest: ` : `${rows.length} of ${sweep.done.length} points; the fastest of these: `,
    el("b", null, pointText(sweep, best)),
    ` with ${text(+best[name])}`,
    all ? "" : over > 0 ? `, ${percent(over, 1)} more than the fastest of all` : ", the fastest of all",
    rows.length > LINES_SHOWN ? `. The picture has ${grouped(LINES_SHOWN)} of their lines` : "",
    ".",
  ];
}

function parallelSection(sweep, fastest) {
  const state = {result: sweep.measure.name, chosen: new Map()},
    place = el("div", {id: "parallel-plot", class: "plot"}),
    told = el("p", {id: "parallel-told", "aria-live": "polite"});
  let drawn = 0;
  const draw = () => {
    const rows = sweep.done.filter(row => [...state.chosen.values()].every(choice => choice.keeps(row))),
      best = rows.reduce((a, b) => (a && +a[sweep.measure.name] <= +b[sweep.measure.name] ? a : b), null);
    drawn = Math.max(240, place.clientWidth || 600);
    place.replaceChildren(parallelPicture(sweep, state.result, rows, best, drawn));
    told.replaceChildren(...[parallelText(sweep, rows, best, fastest)].flat());
  };
  new ResizeObserver(() => {
    if (drawn !== Math.max(240, place.clientWidth)) draw();
  }).observe(place);
  const choose = name => {
    const choices = parallelChoices(sweep, name);
    return picker(name, ["any", ...choices.map(choice => choice.text)], "any", text => {
      const choice = choices.find(one => one.text === text);
      if (choice) state.chosen.set(name, choice);
      else state.chosen.delete(name);
      draw();
    });
  };
  const results = picker("Result", sweep.outputs, state.result, value => {
    state.result = value;
    draw();
  });
  draw();
  return section(
    "parallel",
    "All parameters at once",
    "A line for each point, through its values and its result; the thick line is the fastest of the chosen points. " +
      "Fix a value, and the sentence says what that costs. In the band of a value, points with lower results stand to the left.",
    el("div", {class: "tools"}, sweep.varied.map(choose), results),
    told,
    place,
    keyList([...thirds.map(third => [third.text, `var(--${third.hue})`]), ["the fastest of those chosen", "var(--red)"]]),
  );
}
