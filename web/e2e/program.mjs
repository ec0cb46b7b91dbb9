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

/** Keeps more in a table and in a list of closures for each line that it reads, and says how much. */
const KEEPS = `
let sessions : (int, string list) Hashtbl.t = Hashtbl.create 64
let listeners : (int -> int) list ref = ref []
let[@inline never] open_session n = Hashtbl.replace sessions n (List.init 20 (fun i -> string_of_int (n * i)))
let[@inline never] subscribe n = listeners := (fun x -> x + n) :: !listeners
(* Allocates while it waits: there it can be stopped for a snapshot. *)
let rec wait () =
  match Unix.select [ Unix.stdin ] [] [] 0.02 with
  | [], _, _ -> ignore (Sys.opaque_identity (Array.make 300 0)); wait ()
  | _ -> ()
  | exception Unix.Unix_error (Unix.EINTR, _, _) -> wait ()
let rec serve phase =
  wait ();
  match input_line stdin with
  | exception End_of_file -> ()
  | _ ->
    for i = 1 to 400 do
      open_session (phase * 10_000 + i);
      subscribe i
    done;
    Gc.full_major ();
    Printf.printf "%d\\n%!" (Hashtbl.length sessions);
    serve (phase + 1)
let () = serve 1
`;

/** Starts that program under `memtrail run`, and hands out what makes it grow and what ends it. */
export function startKeeping(name = "kept", options = []) {
  const source = join(scratch, "keeps.ml");
  writeFileSync(source, KEEPS);
  const folder = join(scratch, `${name}.memtrail`);
  const command = ["run", "-q", "--seed", "7", "--rate", "1e-3", "--snapshot", "request", "--contents", ...options];
  const child = spawn(memtrail, [...command, "-o", folder, "--", compile(source, "keeps")], {
    cwd: scratch,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((done) => child.on("exit", done));
  const grow = async () => {
    const said = new Promise((done) => child.stdout.once("data", done));
    child.stdin.write("more\n");
    await said;
  };
  return { folder, grow, end: () => (child.stdin.end(), ended) };
}

/** Its recording, with as many snapshots as wanted. */
export async function recordKept(name = "kept", snapshots = 5) {
  const { folder, grow, end } = startKeeping(name);
  for (let taken = 0; taken < snapshots; taken++) {
    await grow();
    execFileSync(memtrail, ["snapshot", folder], { stdio: "pipe" });
  }
  await end();
  return folder;
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
