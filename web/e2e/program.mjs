// What the tests look at: recordings of real programs, made once a run, and the trace fixtures.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** The program under test: named by MEMTRAIL, which `cargo xtask test` sets. */
export const memtrail = process.env.MEMTRAIL ?? join(repository, "target/debug/memtrail");
if (!existsSync(memtrail)) {
  throw new Error(`${memtrail} is not there; run the tests with \`cargo xtask test\`, or set MEMTRAIL`);
}

export const fixture = (name) => join(repository, "crates/trace/tests/fixtures", name);

/** A folder for this test file, gone when it ends. */
export const scratch = mkdtempSync(join(tmpdir(), "memtrail-e2e-"));
process.on("exit", () => rmSync(scratch, { recursive: true, force: true }));

/** An OCaml program, compiled with Debian's compiler. */
export function compile(source, name) {
  const folder = mkdtempSync(join(scratch, "build-"));
  execFileSync("cp", [source, join(folder, `${name}.ml`)]);
  execFileSync("ocamlfind", ["ocamlopt", "-g", "-package", "unix,threads.posix", "-linkpkg", "-o", name, `${name}.ml`], {
    cwd: folder,
    stdio: "pipe",
  });
  return join(folder, name);
}

/** Runs a command under `memtrail run`; the recording's folder. */
export function record(name, command, options = ["--rate", "1e-4"]) {
  const folder = join(scratch, `${name}.memtrail`);
  execFileSync(memtrail, ["run", "-q", "--seed", "7", ...options, "-o", folder, "--", ...command], {
    cwd: scratch,
    stdio: "pipe",
  });
  return folder;
}

/** The demo's news server with three leaks, recorded. */
export function recordLeaks(name = "leaks", options) {
  const program = compile(join(repository, "crates/memtrail/src/demo/leaks.ml"), "leaks");
  return record(name, [program], options);
}

/** A compiler at work: thousands of functions. */
export function recordCompiler() {
  const functions = Array.from(
    { length: 150 },
    (_, i) =>
      `let rec f${i} a b = match a with [] -> b | x :: r -> List.map (fun z -> z + x) (f${i} r (x :: b))\n`,
  );
  writeFileSync(join(scratch, "big.ml"), functions.join(""));
  return record("compiler", ["ocamlopt.opt", "-c", "-w", "-a", "big.ml"], ["--rate", "1e-3"]);
}

/** `memtrail view`, serving until `stop` is called. */
export async function serve(recordings, options = []) {
  const child = spawn(memtrail, ["view", "--no-open", "--json", ...options, ...recordings], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [output, complaints] = [child.stdout, child.stderr].map((stream) => {
    const text = { all: "" };
    stream.setEncoding("utf8").on("data", (part) => (text.all += part));
    return text;
  });
  const ended = new Promise((done) => child.on("exit", done));
  const url = await new Promise((found, failed) => {
    child.stdout.on("data", () => {
      const line = output.all.split("\n").find((line) => line.includes('"url"'));
      if (line) found(JSON.parse(line).url);
    });
    ended.then((code) => failed(new Error(`memtrail view ended with ${code}: ${complaints.all}`)));
  });
  return { url, child, stop: () => (child.kill("SIGINT"), ended) };
}

/** `memtrail html`: the file's URL. Exit code 3 says that a recording is damaged. */
export function offline(recordings, options = [], name = "offline") {
  const file = join(scratch, `${name}.html`);
  const { status, stderr } = spawnSync(memtrail, ["html", ...recordings, "-o", file, ...options]);
  if (status !== 0 && status !== 3) throw new Error(`memtrail html ended with ${status}: ${stderr}`);
  return `file://${file}`;
}
