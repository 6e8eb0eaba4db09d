// Number formats: General, and one number part (`0`, `#,##0`, decimals, `%`) with literal text around it.
const NUMBER = /(#,##0|0)(\.0+)?(%?)/;

/** `value` as a cell of this format shows it: 1350000 under `€#,##0` is `€1,350,000`. */
export function display(value, formatCode) {
  const match = NUMBER.exec(formatCode);
  if (formatCode === "General" || !match) return String(Number(value.toPrecision(10)));
  const [part, core, decimals, percent] = match;
  const places = Math.max(0, (decimals ?? "").length - 1);
  const digits = Math.abs(percent ? value * 100 : value).toLocaleString("en-US", {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    useGrouping: core === "#,##0",
    roundingMode: "halfEven",
  });
  const sign = value < 0 && /[1-9]/.test(digits) ? "-" : "";
  return sign + formatCode.replace(part, digits + percent).replaceAll('"', "");
}
