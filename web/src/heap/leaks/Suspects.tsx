/** What all lists of leak suspects show, as the engine wrote it. */
import type { Suspect, UnreachableResponse } from "../../generated/responses.ts";

/** A suspect without the ways to where more is known of it. */
export function SuspectText({ suspect: { heading, descriptions, rule, evidence } }: { suspect: Suspect }) {
  return (
    <>
      <h3>{heading}</h3>
      {descriptions.map((description) => (
        <p key={description}>{description}</p>
      ))}
      <p class="quiet">
        {rule}: {evidence}
      </p>
    </>
  );
}

/** Of a native program that was looked at for references. */
export function Unreachable({ found: { sites, count, summary } }: { found: UnreachableResponse }) {
  return (
    <>
      <ul class="suspects" aria-label="Unreachable blocks">
        {sites.map(({ heading, descriptions }) => (
          <li key={descriptions.join()} class="suspect">
            <h3>{heading}</h3>
            {descriptions.map((description) => (
              <p key={description}>{description}</p>
            ))}
          </li>
        ))}
      </ul>
      {count > sites.length && <p class="quiet">… and {count - sites.length} more call sites</p>}
      <p class="quiet">{summary}</p>
    </>
  );
}
