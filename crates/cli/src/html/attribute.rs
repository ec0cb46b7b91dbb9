//! Facts in the attributes of elements.

use memtrail_text::markup::escaped;
use serde::Serialize;

/// An attribute with facts as JSON, and a space before it.
pub(super) fn attribute(name: &str, facts: &impl Serialize) -> String {
    let json = serde_json::to_string(facts).expect("it can always be written");
    format!(r#" data-{name}="{}""#, escaped(&json))
}
