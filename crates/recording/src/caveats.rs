//! What the description says of the figures in the trace: sentences that writers and readers share.

use crate::Description;

/// From this rate on, in samples a word, sampling itself changes what OCaml 5.3 promotes. A sieve
/// promotes 0.82 M words alone, and 0.85 M at 1e-2, 1.40 M at 1e-1, 3.06 M at 1.
const CHANGES_PROMOTION: f64 = 1e-2;

/// Why estimates of a program with a minor heap of so many words are too low.
pub fn too_low(words: u64) -> String {
    format!(
        "estimates are too low: with a minor heap of {words} words the runtime of OCaml 5.3 and \
         later loses samples, with 32k words (OCAMLRUNPARAM=s=32k) hardly any"
    )
}

impl Description {
    /// Why all estimates are too low, if they are.
    pub fn why_too_low(&self) -> Option<String> {
        self.sampling.small_minor_heap.map(too_low)
    }

    /// Why what was promoted depends on the sampling, if it does.
    pub fn why_promoted_depends(&self) -> Option<String> {
        let mut numbers = self.runtime.version.split('.').map(str::parse::<u32>);
        let version = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        let rate = self.sampling.rate;
        (version >= (5, 3) && rate >= CHANGES_PROMOTION).then(|| {
            format!(
                "promoted depends on the rate: sampling ends minor collections early with OCaml {}, and \
                 at {rate:e} samples a word more is promoted than without",
                self.runtime.version
            )
        })
    }
}
