// What the tests look at: recordings of real programs, made once a run, and the trace fixtures.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { after } from "node:test";
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

/** Folder for what all files of a run use; that of this file if it is run alone. */
const shared = process.env.MEMTRAIL_SHARED ?? scratch;

/**
 * A folder that is made once a run, named after what it is made from. It is made aside and renamed, so that a file that
 * runs beside this one never sees half of it.
 */
function once(content, make) {
  const name = createHash("sha256").update(JSON.stringify(content)).digest("hex").slice(0, 16);
  const folder = join(shared, name);
  if (existsSync(folder)) return folder;
  const aside = mkdtempSync(join(shared, "aside-"));
  make(aside);
  try {
    renameSync(aside, folder);
  } catch (error) {
    // Another file was faster.
    if (!existsSync(folder)) throw error;
    rmSync(aside, { recursive: true });
  }
  return folder;
}

/** An OCaml program, compiled with Debian's compiler. */
export function compile(source, name) {
  const text = readFileSync(source, "utf8");
  const options = ["-g", "-package", "unix,threads.posix", "-linkpkg"];
  const folder = once([name, text, options], (folder) => {
    writeFileSync(join(folder, `${name}.ml`), text);
    const command = ["ocamlopt", ...options, "-o", name, `${name}.ml`];
    execFileSync("ocamlfind", command, { cwd: folder, stdio: "pipe" });
  });
  return join(folder, name);
}

/** An OCaml program that has the library memtrail compiled in. */
export function compileWithLibrary(text, name) {
  const library = ["memtrail_stubs.c", "memtrail.mli", "memtrail.ml"];
  const sources = library.map((file) => readFileSync(join(repository, "ocaml", file), "utf8"));
  const folder = once([name, text, sources], (folder) => {
    library.forEach((file, i) => writeFileSync(join(folder, file), sources[i]));
    writeFileSync(join(folder, `${name}.ml`), text);
    const command = ["ocamlopt", "-g", "-o", name, ...library, `${name}.ml`];
    execFileSync("ocamlfind", command, { cwd: folder, stdio: "pipe" });
  });
  return join(folder, name);
}

/** Runs a command under `memtrail run`; a folder of its own with the recording, which was made once a run. */
export function record(name, command, options = ["--rate", "1e-4"]) {
  const made = once([name, command, options], (aside) => {
    const to = join(aside, `${name}.memtrail`);
    // Snapshots that come by themselves are not in each run, and with one the page opens in another view.
    const isTold = options.some((option) => option === "--snapshot" || option.startsWith("--native"));
    const moments = isTold ? [] : ["--snapshot", "request"];
    execFileSync(memtrail, ["run", "-q", "--seed", "7", ...moments, ...options, "-o", to, "--", ...command], {
      cwd: scratch,
      stdio: "pipe",
    });
  });
  const folder = join(scratch, `${name}.memtrail`);
  // A test may write into its recording.
  execFileSync("cp", ["-a", join(made, `${name}.memtrail`), folder]);
  return folder;
}

/** The demo's news server with three leaks, recorded. */
export function recordLeaks(name = "leaks", options) {
  const program = compile(join(repository, "crates/cli/src/demo/leaks.ml"), "leaks");
  return record(name, [program], options);
}

/**
 * Keeps more in a table and in a list of closures for each line that it reads, and says how much. Two variables share a
 * list.
 */
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
let first, second =
  let both = List.init 2000 string_of_int in
  (ref both, ref both)
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

/** Leaks a little twenty times a second, until it is told to end. */
const GROWS = `
let kept = ref []
let[@inline never] serve n = kept := List.init 20_000 (fun i -> string_of_int (n + i)) :: !kept
let () =
  let go = ref true in
  Sys.set_signal Sys.sigterm (Sys.Signal_handle (fun _ -> go := false));
  let n = ref 0 in
  while !go do
    incr n;
    serve !n;
    try Unix.sleepf 0.05 with Unix.Unix_error (Unix.EINTR, _, _) -> ()
  done
`;

/** Starts that program under `memtrail run`; hands out the recording that grows, and what ends it. */
export async function startGrowing(name = "growing") {
  const source = join(scratch, "grows.ml");
  writeFileSync(source, GROWS);
  const folder = join(scratch, `${name}.memtrail`);
  const run = spawn(memtrail, ["run", "-q", "--snapshot", "request", "-o", folder, "--", compile(source, "grows")], {
    stdio: "ignore",
  });
  const ended = new Promise((done) => run.on("exit", done));
  // After a test that failed, all others would wait for the program.
  after(() => run.kill("SIGTERM"));
  while (!existsSync(join(folder, "trace.ctf"))) await new Promise((done) => setTimeout(done, 100));
  return { folder, end: () => (run.kill("SIGTERM"), ended) };
}

/** Fills a table with small arrays of one kind, of which a larger one is static, and a list with strings twice. */
const STAGES = `
let table : (int, int array) Hashtbl.t = Hashtbl.create 16
let texts = ref []
let samples = ref [||]
let[@inline never] fill from upto = for i = from to upto do Hashtbl.replace table i (Array.make 70 i) done
let[@inline never] note i = texts := Printf.sprintf "entry\\000%d" i :: Printf.sprintf "entry\\000%d" i :: !texts
let stage label = Gc.full_major (); Memtrail.dump label
let () =
  fill 1 500;
  stage "after warm-up";
  fill 501 4000;
  samples := Array.make 20_000 1.5;
  for i = 1 to 1500 do note i done;
  stage "in the evening";
  fill 4001 5000;
  let own = [ String.make 30_000 'a'; String.make 9_000 'b' ] in
  stage "at night";
  List.iter (fun text -> print_int (String.length text)) own;
  Printf.printf "%d %d %d\\n" (Hashtbl.length table) (List.length !texts) (Array.length !samples);
  (* A larger block of the kind. *)
  ignore (Format.asprintf "%d" 1)
`;

/** Its recording, with three snapshots that have labels. */
export function recordStages(name = "stages") {
  const program = compileWithLibrary(STAGES, "stages");
  return record(name, [program], ["--rate", "1e-2", "--snapshot", "request", "--contents"]);
}

/** A compiler at work: thousands of functions. */
export function recordCompiler() {
  const functions = Array.from(
    { length: 150 },
    (_, i) => `let rec f${i} a b = match a with [] -> b | x :: r -> List.map (fun z -> z + x) (f${i} r (x :: b))\n`,
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
  // After a test that failed, the run would wait for the server, without end.
  after(() => child.kill("SIGINT"));
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
