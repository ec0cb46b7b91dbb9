/** Where the time axis has its marks, and what they say. */

const SECOND_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400];

/** Steps between marks, in seconds, from a microsecond to years. */
export const timeSteps: readonly number[] = [
  ...[-6, -5, -4, -3, -2, -1].flatMap((power) => [1, 2, 5].map((digit) => Number(`${digit}e${power}`))),
  ...SECOND_STEPS,
  ...[2, 5, 10, 20, 50, 100, 200, 500, 1000].map((days) => days * 86_400),
];

/** Steps between marks, in bytes: 1, 2, 5, … of each binary unit. */
export const sizeSteps: readonly number[] = [0, 1, 2, 3, 4, 5].flatMap((power) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((digit) => digit * 1024 ** power),
);

/**
 * Marks between two times. On a wall clock they stand at round times of day: `origin` is then the
 * wall time, in seconds, of time 0.
 */
export function marks(from: number, to: number, every: number, origin: number): number[] {
  const found: number[] = [];
  const first = Math.ceil((from + origin) / every - 1e-9);
  for (let index = first; found.length < 1000; index += 1) {
    const time = index * every - origin;
    if (time > to + every * 1e-9) break;
    found.push(Math.abs(time) < every * 1e-9 ? 0 : time);
  }
  return found;
}

const two = (number: number) => String(number).padStart(2, "0");

/** Digits after the point that tell multiples of `every` apart. */
function places(every: number): number {
  return every >= 1 ? 0 : Math.min(6, Math.ceil(-Math.log10(every) - 1e-9));
}

/** `12.5 s`, `3m05s`, `2h30m`, `4d06h`, as fine as the step. */
export function elapsedMark(time: number, every: number): string {
  if (time === 0) return "0";
  if (every < 0.001 && time < 1) return `${Number((time * 1e3).toFixed(places(every) - 3))} ms`;
  if (time < 60) return `${time.toFixed(places(every))} s`;
  const minutes = Math.floor(time / 60 + 1e-9);
  const rest = time - minutes * 60;
  const seconds =
    every >= 60
      ? ""
      : `${places(every) > 0 ? rest.toFixed(places(every)).padStart(3 + places(every), "0") : two(Math.round(rest))}s`;
  if (time < 3600) return `${minutes}m${seconds}`;
  const hours = Math.floor(minutes / 60);
  if (time < 86_400 || every < 3600) {
    const ofHour = every >= 3600 ? "" : `${two(minutes % 60)}m`;
    return `${hours}h${ofHour}${seconds}`;
  }
  const days = Math.floor(hours / 24);
  return every >= 86_400 ? `${days}d` : `${days}d${two(hours % 24)}h`;
}

/** `14:05`, `14:05:30`, `14:05:30.250`, `21 Nov`: the local time of day, as fine as the step. */
export function wallMark(unix: number, every: number): string {
  const date = new Date(unix * 1000);
  const day = `${date.getDate()} ${date.toLocaleString("en", { month: "short" })}`;
  if (every >= 86_400) return day;
  const minutes = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (every >= 60) return minutes === "00:00" ? day : minutes;
  const fraction = places(every) > 0 ? (unix - Math.floor(unix)).toFixed(places(every)).slice(1) : "";
  return `${minutes}:${two(date.getSeconds())}${fraction}`;
}

/** Seconds by which local wall clocks are ahead of UTC at that time. */
export function zoneOffset(unix: number): number {
  return 0 - new Date(unix * 1000).getTimezoneOffset() * 60;
}

/** A typed time of day (`14:05`, `14:05:30.5`) as seconds after a start on that day, or null. */
export function parseWall(text: string, startUnix: number): number | null {
  const found = /^\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d+)?))?\s*$/.exec(text);
  if (!found) return null;
  const [hours, minutes, seconds] = [Number(found[1]), Number(found[2]), Number(found[3] ?? 0)];
  if (hours > 23 || minutes > 59 || seconds >= 60) return null;
  const day = new Date(startUnix * 1000);
  day.setHours(hours, minutes, 0, 0);
  const time = day.getTime() / 1000 + seconds - startUnix;
  // Before the start is the next day, but for the minute that the start itself is in.
  return time < -60 ? time + 86_400 : Math.max(0, time);
}
