/** What the page shows, as text in the URL's hash: `#f=live:end&view=flame&focus=a&focus=b`. */

export interface PageState {
  /** Index of the recording. */
  rec: number;
  /** Conditions, in their text form. */
  filter: readonly string[];
  /** Id of the view. */
  view: string;
  /** Keys of the functions in focus, outermost first. */
  focus: readonly string[];
  /** Whatever else views keep: `by`, `sort`, `find`, `q`, `dir`, … */
  more: Readonly<Record<string, string>>;
}

export const FIRST_STATE: PageState = { rec: 0, filter: [], view: "flame", focus: [], more: {} };

export function parseHash(hash: string): PageState {
  const params = new URLSearchParams(hash.replace(/^#/, ""));
  const more: Record<string, string> = {};
  for (const [name, value] of params) {
    if (!["rec", "f", "view", "focus"].includes(name)) more[name] = value;
  }
  const rec = Number(params.get("rec") ?? 0);
  return {
    rec: Number.isInteger(rec) && rec >= 0 ? rec : 0,
    filter: params.getAll("f"),
    view: params.get("view") || FIRST_STATE.view,
    focus: params.getAll("focus"),
    more,
  };
}

/** The shortest hash that `parseHash` reads as `state`; empty for the first state. */
export function printHash(state: PageState): string {
  const params: [string, string][] = [];
  if (state.rec !== 0) params.push(["rec", String(state.rec)]);
  for (const condition of state.filter) params.push(["f", condition]);
  if (state.view !== FIRST_STATE.view) params.push(["view", state.view]);
  for (const key of state.focus) params.push(["focus", key]);
  for (const name of Object.keys(state.more).sort()) {
    const value = state.more[name];
    if (value) params.push([name, value]);
  }
  return params.map(([name, value]) => `${escape(name)}=${escape(value)}`).join("&");
}

/** Percent-encodes only what URLs and `URLSearchParams` need, so that a link can be read. */
function escape(text: string): string {
  return encodeURIComponent(text).replace(/%(3A|2C|2F|40|20|3C|3E|7E|28|29|5B|5D|3B)/gi, (hex) => {
    const char = decodeURIComponent(hex);
    return char === " " ? "+" : "<>".includes(char) ? hex : char;
  });
}
