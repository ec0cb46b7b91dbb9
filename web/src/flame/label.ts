/**
 * The name of a function in the room that its box has. What distinguishes functions stands at the
 * end, so modules go first: `Stdlib.Map.Make.add`, `…Make.add`, `…add`, `ad…`.
 */

export type Measure = (text: string) => number;

const ELLIPSIS = "…";

/** The forms of a name that keep whole segments, longest first. */
export function shortenings(name: string): string[] {
  const forms = [name];
  const line = /.(:\d+)$/.exec(name);
  if (line) return [name, ELLIPSIS + line[1]];
  const dots = /\.(?=[^.])/g;
  for (let dot = dots.exec(name); dot !== null; dot = dots.exec(name)) {
    const rest = name.slice(dot.index + 1);
    // An operator's dots do not separate modules, and `(fun)` is nothing without what it is in.
    if (/^[\p{L}_(]/u.test(rest) && !rest.startsWith("(fun")) forms.push(ELLIPSIS + rest);
  }
  return forms;
}

/** Writes names into rooms, and remembers how wide what it measured is. */
export class Labels {
  private readonly forms = new Map<string, { text: string; width: number }[]>();

  constructor(private readonly measure: Measure) {}

  /** The longest form of `name` that fits in `room` pixels; empty where nothing sensible fits. */
  fit(name: string, room: number): string {
    const forms = this.formsOf(name);
    for (const form of forms) {
      if (form.width <= room) return form.text;
    }
    const shortest = forms[forms.length - 1];
    return shortest === undefined ? "" : beginning(shortest.text, shortest.width, room);
  }

  private formsOf(name: string): { text: string; width: number }[] {
    let forms = this.forms.get(name);
    if (forms === undefined) {
      forms = shortenings(name).map((text) => ({ text, width: this.measure(text) }));
      this.forms.set(name, forms);
    }
    return forms;
  }
}

/** The first letters of the last segment. Widths are taken as even, on the safe side. */
function beginning(text: string, width: number, room: number): string {
  const letters = Array.from(text.startsWith(ELLIPSIS) ? text.slice(1) : text);
  const each = width / Math.max(1, letters.length);
  const fitting = Math.floor(room / (each * 1.15)) - 1;
  return fitting < 2 ? "" : letters.slice(0, fitting).join("") + ELLIPSIS;
}

/** How an allocation site is written in its box: the file without its folders, and the line, as far as they are known. */
export function siteLabel(file: string, line: number): string {
  const name = file.slice(file.lastIndexOf("/") + 1);
  return line > 0 ? `${name}:${line}` : name;
}
