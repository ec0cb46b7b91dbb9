/** Sizes, counts, shares and times as people read them: the same texts as `memtrail report`. */

/** Digits after the point that make three significant ones. */
function three(value: number): number {
  return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** The power of 1,024 that leaves less than a thousand. */
function scale(size: number): [factor: number, unit: string] {
  let factor = 1;
  let unit = 0;
  while (Math.abs(size) / factor >= 999.5 && unit + 1 < BINARY.length) {
    factor *= 1024;
    unit += 1;
  }
  return [factor, BINARY[unit] ?? "B"];
}

/** `13.2 MiB`. A negative size (a difference) has its minus sign. */
export function bytes(size: number): string {
  const [factor, unit] = scale(size);
  const value = Math.abs(size) / factor;
  const sign = size < 0 && value > 0 ? "−" : "";
  return `${sign}${value.toFixed(unit === "B" ? 0 : three(value))} ${unit}`;
}

/** `13.2 ±0.6 MiB`, in the unit of the larger one; an error that would read 0 is left out. */
export function bytesWithError(size: number, stderr: number): string {
  const [factor, unit] = scale(Math.max(Math.abs(size), stderr));
  const [value, error] = [size / factor, stderr / factor];
  const digits = unit === "B" ? 0 : three(Math.max(Math.abs(value), error));
  const shows = (places: number) => error >= 0.5 / 10 ** places;
  if (shows(digits)) return `${value.toFixed(digits)} ±${error.toFixed(digits)} ${unit}`;
  if (unit !== "B" && digits < 2 && shows(digits + 1)) {
    return `${value.toFixed(digits + 1)} ±${error.toFixed(digits + 1)} ${unit}`;
  }
  return bytes(size);
}

/** `1,234,567`. */
export function grouped(number: number): string {
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number of things: `1,234`, `99.1 k`, `4.61 M`. */
export function count(number: number): string {
  if (number < 9_999.5) return grouped(number);
  const units = ["k", "M", "G", "T", "P", "E"];
  let value = number / 1e3;
  let unit = 0;
  while (value >= 999.5 && unit + 1 < units.length) {
    value /= 1e3;
    unit += 1;
  }
  return `${value.toFixed(three(value))} ${units[unit]}`;
}

/** `1 block`, `12.3 k blocks`. */
export function blocks(number: number): string {
  return `${count(number)} ${number === 1 ? "block" : "blocks"}`;
}

/** A share of 1, in percent: a digit after the point only where it tells something. */
export function percent(share: number): string {
  const value = share * 100;
  if (value === 0 || value >= 9.95) return `${value.toFixed(0)} %`;
  return value < 0.05 ? "<0.1 %" : `${value.toFixed(1)} %`;
}

/** Part of a whole, 0 of nothing. */
export function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** `0.31 s`, `42.0 s`, `3m05s`, `2h14m`, `9d03h`. */
export function seconds(time: number): string {
  const two = (number: number) => String(number).padStart(2, "0");
  const whole = Math.round(time);
  if (time === 0) return "0 s";
  if (time < 0.000_999_5) return `${(time * 1e6).toFixed(0)} µs`;
  if (time < 0.099_95) return `${(time * 1e3).toFixed(time < 0.009_95 ? 1 : 0)} ms`;
  if (time < 9.995) return `${time.toFixed(2)} s`;
  if (time < 99.95) return `${time.toFixed(1)} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m${two(whole % 60)}s`;
  if (whole < 2 * 86_400) return `${Math.floor(whole / 3600)}h${two(Math.floor(whole / 60) % 60)}m`;
  return `${Math.floor(whole / 86_400)}d${two(Math.floor(whole / 3600) % 24)}h`;
}
