// SPDX-License-Identifier: Apache-2.0
// The page: sections of what was given, the list of sections, the theme.

function runSections(folders) {
  const folder = folders[0],
    report = folder.report,
    pair = folders.length > 1;
  return [
    ...(pair ? [compareSection(folders), energyPairSection(report.energy, folders[1].report.energy, chipEnergySection)] : []),
    firstSection(report, pair ? `A, ${folder.name}` : null),
    pipesSection(report),
    causesSection(report),
    hotspotsSection(report),
    timelineSection(folder, report),
    rooflineSection(report),
    bytesSection(report),
    trafficSection(report),
    banksSection(report),
    pair ? null : chipEnergySection(report.energy),
    coresSection(report),
  ].filter(Boolean);
}

const makers = {
  run: runSections,
  sweep: folders => (folders.length > 1 ? sweepPairSections(folders) : sweepSections(folders[0])),
  list: folders => (folders.length > 1 ? listPairSections(folders) : listSections(folders[0])),
  network: folders => (folders.length > 1 ? networkPairSections(folders) : networkSections(folders[0])),
  job: folders => (folders.length > 1 ? jobPairSections(folders) : jobSections(folders[0])),
};

// What ran, on what chip.
const subjects = {
  run: folder => `${kernelNames(folder.report)} on ${folder.report.soc}`,
  sweep: sweepSubject,
  list: folder => {
    const list = readList(folder);
    return `${list.rows.length} operators on ${list.chips.join(", ") || "no chip"}`;
  },
  network: folder => `${folder.summary.network} on ${folder.summary.chip}`,
  job: folder => `${folder.summary.job} on ${folder.summary.ranks.length} devices of ${folder.summary.system}`,
};

function titleOf(data) {
  const names = data.folders.map(folder => folder.name).join(" and ");
  const told = [...new Set(data.folders.map(subjects[data.kind]))];
  return `${told.join(" and ")} (${names})`;
}

// Which vinci made the results, and what they assume.
function originOf(data) {
  const told = data.folders.flatMap(folder => {
    const {study, report, summary, list} = folder,
      revision = [study, report, summary, list].map(part => part && part.model_revision).find(Boolean);
    return [
      revision ? `model revision ${revision}` : null,
      study && study.memory ? `${study.memory} memory` : null,
      study && study.l2 ? `L2 at the start: ${study.l2}` : null,
      study && study.set.length ? `with ${study.set.join(", ")}` : null,
    ];
  });
  return [...new Set(told.filter(Boolean))].join("; ");
}

// The command that made the results, and the digests of its inputs.
function commandOf(data) {
  return data.folders.map(({command}) => {
    if (!command) return el("p", {class: "faint command"}, "The command is not known: a script made the results, or an earlier vinci.");
    const inputs = command.inputs.map(input => (input.digest ? `${input.file} (${input.digest})` : input.file));
    return el(
      "p",
      {class: "faint command"},
      el("code", null, command.command),
      `; vinci ${command.version}`,
      inputs.length ? `; ${inputs.join(", ")}` : "; no file is an input",
    );
  });
}

// The theme is the system's until the button says otherwise; the page keeps no state.
function setUpTheme() {
  const button = document.getElementById("theme"),
    dark = matchMedia("(prefers-color-scheme: dark)");
  let choice = "system";
  const apply = () => {
    document.documentElement.dataset.theme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    button.textContent = "Theme: " + choice;
    themeChanged();
  };
  button.addEventListener("click", () => {
    choice = {system: "light", light: "dark", dark: "system"}[choice];
    apply();
  });
  dark.addEventListener("change", apply);
  apply();
}

// On paper the canvases are drawn in the colours of paper.
function setUpPrint() {
  let before = null;
  addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme;
    document.documentElement.dataset.theme = "light";
    themeChanged();
  });
  addEventListener("afterprint", () => {
    document.documentElement.dataset.theme = before;
    themeChanged();
  });
}

function start() {
  const main = document.getElementById("main");
  let data;
  try {
    data = JSON.parse(document.getElementById("data").textContent);
  } catch (error) {
    main.append(
      el(
        "p",
        {class: "warn"},
        "The data of this page is damaged: " + error.message + ". Write the report again.",
      ),
    );
    return;
  }
  setUpTheme();
  let sections;
  try {
    const title = titleOf(data);
    document.title = title + " - vinci report";
    document.getElementById("title").textContent = title;
    document.getElementById("origin").textContent = originOf(data);
    document.getElementById("origin").after(...commandOf(data));
    sections = makers[data.kind](data.folders);
  } catch (error) {
    main.append(el("p", {class: "warn"}, `The results cannot be shown: ${error.message}.`));
    throw error; // the console has the place
  }
  main.replaceChildren(...sections);
  document
    .getElementById("nav")
    .append(...sections.map(part => el("a", {href: "#" + part.id}, part.querySelector("h2").textContent)));
  setUpPrint();
}

start();
