// SPDX-License-Identifier: Apache-2.0
// The page: sections of what was given, the list of sections, the theme.

function runSections(folders) {
  const folder = folders[0],
    report = folder.report;
  return [
    firstSection(report),
    folders.length > 1 ? compareSection(folders) : null,
    pipesSection(report),
    causesSection(report),
    hotspotsSection(report),
    timelineSection(folder, report),
    rooflineSection(report),
    bytesSection(report),
    trafficSection(report),
    banksSection(report),
    coresSection(report),
  ].filter(Boolean);
}

const makers = {
  run: runSections,
  sweep: folders => sweepSections(folders[0]),
  list: folders => listSections(folders[0]),
  network: folders => networkSections(folders[0]),
  job: folders => jobSections(folders[0]),
};

function titleOf(data) {
  const names = data.folders.map(folder => folder.name).join(" and ");
  const report = data.folders[0].report;
  return report ? `${kernelNames(report)} on ${report.soc} (${names})` : names;
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
  document.title = titleOf(data) + " - vinci report";
  document.getElementById("title").textContent = titleOf(data);
  setUpTheme();
  let sections;
  try {
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
