/** What allocated most blocks of a place, as far as the sampled ones tell. */
import type { AllocatedBy } from "../generated/responses.ts";

/** `allocated by Ast.expr ast.ml:12 in 41 of 43 samples` */
export function allocatedBy({ precision, name, file, line, samples, of }: AllocatedBy): string {
  const whose = precision === "module" ? "in module" : "by";
  const place = precision === "site" && file && line ? ` ${file}:${line}` : "";
  return `allocated ${whose} ${name}${place} in ${samples} of ${of} samples`;
}
