/** Estimates as people read them: those that the recorder reports as too low have a mark. */
import type { RecordingInfo } from "../generated/responses.ts";
import { bytes, bytesWithError, count } from "../text/units.ts";
import { about, recording } from "./about.ts";

/** Before each figure that is too low, as in `memtrail report`. */
export const AT_LEAST = "≥";

/** The mark that estimates of a recording need. */
export const markOf = (run: RecordingInfo | null | undefined): string => (run?.caveats.estimates ? AT_LEAST : "");

/** The mark that figures need which are about several recordings. */
export const markOfAny = (recs: readonly number[]): string =>
  recs.some((rec) => markOf(about.value?.recordings[rec])) ? AT_LEAST : "";

const marked = (text: string): string => markOf(recording.value) + text;

/** As `bytes`, of the recording that is looked at. */
export const estimatedBytes = (size: number): string => marked(bytes(size));

/** As `bytesWithError`. */
export const estimatedBytesWithError = (size: number, stderr: number): string => marked(bytesWithError(size, stderr));

/** As `count`. */
export const estimatedCount = (blocks: number): string => marked(count(blocks));
