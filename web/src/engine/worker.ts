/** The offline engine's thread: a parcel first, then queries, one at a time. */
import { unpack, type Core, type Parcel } from "./core.ts";

export type Order = { parcel: Parcel } | { query: string };
export type Report = { ready: true } | { response: ArrayBuffer } | { failure: string };

let core: Core | undefined;

const report = (report: Report, transfer: Transferable[] = []) => self.postMessage(report, { transfer });

self.onmessage = async ({ data }: MessageEvent<Order>) => {
  try {
    if ("parcel" in data) {
      core = await unpack(data.parcel);
      report({ ready: true });
    } else if (core) {
      const response = core.query(data.query);
      report({ response }, [response]);
    }
  } catch (error) {
    report({ failure: error instanceof Error ? error.message : String(error) });
  }
};
