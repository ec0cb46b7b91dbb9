//! What rules say.

/// What a rule says.
pub(in crate::leaks) struct Finding {
    /// The rule's name.
    pub(in crate::leaks) rule: &'static str,
    /// What is wrong, in a clause.
    pub(in crate::leaks) clause: String,
}
