import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { NewestRequest, PATIENCE_MS } from "./newestRequest.ts";

/** Requests that are answered when the test says so. */
function desk() {
  const open = new Map<string, { resolve(text: string): void; reject(error: Error): void; signal: AbortSignal }>();
  const log: string[] = [];
  const latest = new NewestRequest<string>({
    run: (request, signal) =>
      new Promise((resolve, reject) => {
        log.push(`run ${request}`);
        open.set(request, { resolve, reject, signal });
      }),
    responded: (request, response) => log.push(`${request}=${response}`),
    failed: (request, error) => log.push(`${request}: ${(error as Error).message}`),
  });
  const settle = () => new Promise<void>((done) => setImmediate(done));
  return { open, log, latest, settle };
}

test("of the requests that come while one is under way only the newest is made", async () => {
  const { open, log, latest, settle } = desk();
  for (const request of ["a", "b", "c", "d"]) latest.want(request);
  assert.deepEqual(log, ["run a"]);
  open.get("a")?.resolve("1");
  await settle();
  assert.deepEqual(log, ["run a", "a=1", "run d"]);
  open.get("d")?.reject(new Error("no"));
  await settle();
  assert.deepEqual(log, ["run a", "a=1", "run d", "d: no"]);
});

test("what is under way and wanted again is not asked twice", async () => {
  const { open, log, latest, settle } = desk();
  for (const request of ["a", "b", "a"]) latest.want(request);
  open.get("a")?.resolve("1");
  await settle();
  assert.deepEqual(log, ["run a", "a=1"]);
});

test("a slow request gives way, and its late response is not heard", async () => {
  const { open, log, latest, settle } = desk();
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    latest.want("a");
    latest.want("b");
    mock.timers.tick(PATIENCE_MS);
  } finally {
    mock.timers.reset();
  }
  assert.deepEqual(log, ["run a", "run b"]);
  assert.ok(open.get("a")?.signal.aborted);
  open.get("a")?.resolve("late");
  open.get("b")?.resolve("2");
  await settle();
  assert.deepEqual(log, ["run a", "run b", "b=2"]);
});

test("after stop nothing is heard", async () => {
  const { open, log, latest, settle } = desk();
  latest.want("a");
  latest.want("b");
  latest.stop();
  open.get("a")?.reject(new Error("aborted"));
  await settle();
  assert.deepEqual(log, ["run a"]);
});
