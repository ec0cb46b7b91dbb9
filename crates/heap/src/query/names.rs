//! How root nodes are called.

use crate::graph::{RootNode, RootNodeId, RootNodes};
use crate::label::{Label, LabelRole, Labels, RootKind};
use crate::units::LabelId;

/// A root node's own name, without those above it.
pub fn root_name(labels: &Labels, root_nodes: &RootNodes, root_node: RootNodeId) -> String {
    match root_nodes.get(root_node) {
        RootNode::Everything => "all roots".into(),
        RootNode::Kind(kind) => kind.name().into(),
        RootNode::Label(label) => match (labels.variable(label), labels.get(label)) {
            (Some(variable), _) => variable.name.clone(),
            (None, Some(label)) => name(labels, label),
            (None, None) => String::new(),
        },
    }
}

/// What is said of static data that no root owns.
pub(super) const STATIC: &str = "static data that no variable reaches";

/// The kind of what no single kind of roots retains.
pub(super) const SEVERAL_KINDS: &str = "several kinds";

/// What is said of memory that several parts of a root node retain, and none of them alone.
pub const fn joint_name(root_node: RootNode) -> &'static str {
    match root_node {
        RootNode::Everything => "jointly retained by several kinds of roots",
        RootNode::Kind(RootKind::Global) => "jointly retained by several modules",
        RootNode::Kind(RootKind::Stack) => "jointly retained by several threads",
        // It has no parts: no root is above static data.
        RootNode::Kind(RootKind::Static) => "static data",
        RootNode::Kind(_) | RootNode::Label(_) => "jointly retained by several parts",
    }
}

/// The same by the name of a kind of roots; without one, of all kinds.
pub(super) fn joint_name_of(kind: Option<&str>) -> &'static str {
    let Some(kind) = kind else { return joint_name(RootNode::Everything) };
    let known = RootKind::ALL.iter().find(|known| known.name() == kind);
    joint_name(RootNode::Kind(known.copied().unwrap_or(RootKind::Other)))
}

fn name(labels: &Labels, label: &Label) -> String {
    let name = String::from_utf8_lossy(labels.name(label));
    let file = String::from_utf8_lossy(labels.file(label));
    let number = label.number;
    match label.part {
        LabelRole::Field if name.is_empty() => format!("field {number}"),
        LabelRole::Field => format!("{name} (field {number})"),
        LabelRole::Domain => format!("domain {number}"),
        LabelRole::Thread => format!("thread {number}"),
        LabelRole::Fiber => format!("fiber {number}"),
        LabelRole::Slot => format!("slot {number}"),
        LabelRole::Frame | LabelRole::Function if !file.is_empty() => {
            let name = if name.is_empty() { "(unknown)" } else { &name };
            format!("{name} ({file}:{number})")
        }
        _ if !name.is_empty() => name.into_owned(),
        part => format!("{} {number}", part.name()),
    }
}

/// A label's names from the coarsest to its own.
pub fn label_path(labels: &Labels, label: LabelId) -> Vec<String> {
    path(labels, label, |id, label| match labels.variable(id) {
        Some(variable) => variable.name.clone(),
        None => name(labels, label),
    })
}

/// The same without what is known of variables: what is stored of a snapshot does not depend on that.
pub(super) fn stored_path(labels: &Labels, label: LabelId) -> Vec<String> {
    path(labels, label, |_, label| name(labels, label))
}

fn path(labels: &Labels, label: LabelId, name: impl Fn(LabelId, &Label) -> String) -> Vec<String> {
    let mut path = Vec::new();
    let mut at = Some(label);
    while let Some((id, label)) = at.and_then(|id| Some((id, labels.get(id)?))) {
        path.push(name(id, label));
        at = label.parent;
    }
    path.reverse();
    path
}
