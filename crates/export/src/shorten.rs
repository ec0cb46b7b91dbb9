//! Paths that a viewer cannot take lose their middle, as callstacks do that are too deep to be
//! recorded as a whole.

use memtrail_trace::{Code, omitted};
use rustc_hash::FxHashMap;

use crate::paths::Paths;

impl Paths {
    /// Shortens the paths of more than `deepest` functions. Their gaps are frames, too, numbered from
    /// `first` on: returns their names.
    pub(crate) fn shorten(&mut self, deepest: usize, first: usize) -> Vec<&'static str> {
        let mut gaps: Vec<Code> = Vec::new();
        let mut nodes = FxHashMap::default();
        let mut instead: FxHashMap<u32, u32> = FxHashMap::default();
        // How deep each node is, and where its path leaves the functions that are kept.
        let mut depths = vec![(0, 0_u32); self.len()];
        for node in 1..self.len() as u32 {
            let (depth, outer) = depths[self.parent(node) as usize];
            let depth = depth + 1;
            let outer = if depth <= omitted::OUTERMOST { node } else { outer };
            depths[node as usize] = (depth, outer);
            let gap = omitted::gap(depth).filter(|_| depth > deepest);
            let Some(gap) = gap else { continue };
            if self.own(node).is_nothing() {
                continue;
            }
            let code = omitted::code(gap.len());
            let index = gaps.iter().position(|&known| known == code).unwrap_or_else(|| {
                gaps.push(code);
                gaps.len() - 1
            });
            let mut inner = Vec::with_capacity(depth - gap.end);
            let mut at = node;
            for _ in gap.end..depth {
                inner.push(self.frame(at));
                at = self.parent(at);
            }
            let mut at = outer;
            for frame in std::iter::once(first + index).chain(inner.into_iter().rev()) {
                at = *nodes.entry((at, frame)).or_insert_with(|| self.push(at, frame));
            }
            self.move_own(node, at);
            instead.insert(node, at);
        }
        self.redirect(&instead);
        gaps.iter().filter_map(|&code| omitted::name(code)).collect()
    }
}
