// S2 and S6: may this person read these revisions, and what do these cells come to.
import { display } from "./formats.mjs";
import { place } from "./store.mjs";

const FUNCTIONS = {
  SUM: (values) => values.reduce((sum, value) => sum + value, 0),
  AVERAGE: (values) => FUNCTIONS.SUM(values) / values.length,
  MIN: (values) => Math.min(...values),
  MAX: (values) => Math.max(...values),
  COUNT: (values) => values.length,
};

/**
 * The name of the verdict on one pair.
 *
 * Custody first: off the team rung the item might as well not be there, whoever holds a grant. Then the person. The
 * revision last, compared with the item's own log.
 */
export function verdict(store, address, itemId, revision) {
  const item = store.onTeam(itemId);
  if (!item || !store.people.has(address) || item.removed.has(address)) return "NOT_VISIBLE";
  if (revision === item.log.at(-1).revision) return "VISIBLE";
  return item.log.some((known) => known.revision === revision) ? "STALE" : "AHEAD";
}

/** {outcome, and what goes with it}. One cell that may not be read hides what the others are. */
export function aggregate(store, address, name, cells) {
  const verdicts = cells.map((cell) => verdict(store, address, cell.itemId, cell.revision));
  if (verdicts.includes("NOT_VISIBLE")) return { outcome: "NOT_VISIBLE" };
  const overtaken = verdicts.findIndex((said) => said !== "VISIBLE");
  if (overtaken >= 0) return { outcome: verdicts[overtaken], cell: cells[overtaken] };
  const tabs = cells.map((cell) => store.items.get(cell.itemId).log.at(-1).tabs.get(cell.tab));
  if (tabs.includes(undefined)) return { outcome: "NOT_VISIBLE" }; // there is no such tab
  const operands = cells.map((cell, index) => tabs[index].get(place(cell)));
  const text = operands.findIndex((operand) => typeof operand?.value !== "number");
  if (text >= 0) return { outcome: "NON_NUMERIC", cell: cells[text] };
  const value = FUNCTIONS[name](operands.map((operand) => operand.value));
  const operandFormatCodes = operands.map((operand) => operand.format);
  const formatCode = name === "COUNT" ? "0" : operandFormatCodes[0]; // a count is of cells, not of euros
  return { outcome: "VALUE", value, display: display(value, formatCode), formatCode, operandFormatCodes };
}
