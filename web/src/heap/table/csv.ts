/** Tables for spreadsheets. */

/** Rows as RFC 4180 has them. */
export function csv(rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  // A spreadsheet computes what begins with these, also where a program's data gave the name.
  const cell = (text: string): string => quoted(/^[=@\t\r]|^[+-](?![\d.])/.test(text) ? `'${text}` : text);
  return rows.map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
