"use strict";
// Tables can be copied (tabs between cells, as spreadsheets paste them) and downloaded as .csv.
function cells(table) {
  const line = (cell) => cell.innerText.trim().replace(/\s*\n\s*/g, "; ");
  return [...table.rows].map((row) => [...row.cells].map((cell) => shown(line(cell))));
}
// A spreadsheet runs text that begins like a formula, unless an apostrophe is before it. Numbers stay numbers, and an
// interval, two numbers with dots between them, is no formula.
const NUMBER = /^[-+]?\d+(\.\d*)?(e[-+]?\d+)?( … [-+]?\d+(\.\d*)?)?$/i;
function shown(text) {
  return /^[=+\-@\t\r\n＝＋－＠]/.test(text) && !NUMBER.test(text) ? "'" + text : text;
}
function quoted(text) {
  return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}
function copied(text) {
  if (navigator.clipboard && window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
  return Promise.resolve();
}
function saved(text, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff" + text], { type: "text/csv" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
for (const button of document.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", async () => {
    const table = button.closest("section").querySelectorAll("table")[
      [...button.closest("section").querySelectorAll("button[data-do=" + button.dataset.do + "]")].indexOf(button)
    ];
    const rows = cells(table);
    const label = button.textContent;
    if (button.dataset.do === "copy") {
      await copied(rows.map((row) => row.join("\t")).join("\n"));
    } else {
      const name = document.title.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
      saved(rows.map((row) => row.map(quoted).join(",")).join("\r\n"), (name || "table") + ".csv");
    }
    button.textContent = "done";
    setTimeout(() => { button.textContent = label; }, 1200);
  });
}
