declare module "*.css";

interface Window {
  /** Pages that were opened from disk have it; see offline.ts. */
  unxz(bytes: ArrayBuffer): Promise<ArrayBuffer>;
}

/** The text of a bundled script; see build.mjs. */
declare module "worker:*" {
  const text: string;
  export default text;
}
