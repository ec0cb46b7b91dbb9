declare module "*.css";

/** The text of a bundled script; see build.mjs. */
declare module "worker:*" {
  const text: string;
  export default text;
}
