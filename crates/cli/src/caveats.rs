//! What a recording says of its figures, from its description to the analysis.

use memtrail_profile::Caveats;
use memtrail_recording::Recording;

const OF_MALLOC: &str = "external is memory from malloc until it is freed: bigarrays, and what C code allocates; what \
     malloc gives to the OCaml heap is not in it";

const OF_MAPPINGS: &str = "external is what the program maps itself, until it is unmapped: memory and files, touched or not";

/// Says it on standard error, where what is printed has no place for it.
pub(crate) fn tell(caveats: &Caveats) {
    for note in caveats.notes() {
        message!("memtrail: note: {note}");
    }
}

/// What the recorder reports; nothing for bare traces.
pub(crate) fn reported(recording: &Recording) -> Caveats {
    let Some(description) = &recording.description else { return Caveats::default() };
    Caveats {
        estimates: description.why_too_low(),
        promoted: description.why_promoted_depends(),
        external: if description.runtime.is_native() {
            Some(OF_MAPPINGS.to_owned())
        } else {
            description.sampling.malloc_rate.map(|_| OF_MALLOC.to_owned())
        },
    }
}
