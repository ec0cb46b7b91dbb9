/** Unpacks the script of a page that was opened from disk, and leaves what unpacks its engine, which no browser can. */
import { fromBase64 } from "./engine/base64.ts";
import { gunzip } from "./engine/core.ts";
import { unxz } from "./engine/xz.ts";

window.unxz = unxz;

async function begin(): Promise<void> {
  const packed = document.querySelector('script[type="application/x-memtrail-script"]');
  const bytes = await gunzip(fromBase64(packed?.textContent ?? ""));
  const script = document.createElement("script");
  script.textContent = new TextDecoder().decode(bytes);
  document.body.append(script);
}

begin().catch((error: unknown) => {
  const place = document.getElementById("page");
  if (place) place.textContent = `This page cannot be read: ${String(error)}. The file may be damaged.`;
});
