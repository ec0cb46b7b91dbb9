//! Retaining paths: of a block, and of blocks of a kind or type by their shape.

use memtrail_heap::contents::Structures;
use memtrail_heap::graph::Failed;
use memtrail_heap::query::{self, Catalogue, DisjointPaths, MergedPath, Path};
use memtrail_heap::{BlockIndex, Bytes};
use serde::Serialize;

use super::allocated::{name_merged, name_steps};
use super::merge::{Merge, Question};
use super::named;
use super::selection::Selection;
use super::unanswered::Unanswered;
use super::view::View;

/// By which paths are blocks of a kind or type retained?
#[derive(Clone, Debug)]
pub struct PathShapesQuestion {
    /// The blocks.
    pub of: BlocksOf,
    /// Maximum number of blocks to look at.
    pub sample: usize,
    /// Maximum number of shapes.
    pub limit: usize,
}

/// Blocks that are alike.
#[derive(Clone, Debug)]
pub enum BlocksOf {
    /// Blocks of a kind.
    Kind(String),
    /// Blocks of a type.
    Type(String),
}

/// Paths of some blocks of a kind or type, by shape.
#[derive(Clone, Debug, Serialize)]
pub struct PathShapes {
    /// Paths, those of the same shape as one.
    pub paths: Vec<MergedPath>,
    /// Shapes that are left out.
    pub left_out: usize,
    /// Blocks whose paths were looked at.
    pub looked_at: u64,
    /// Blocks of the kind or type.
    pub blocks: u64,
}

impl Question for PathShapesQuestion {
    type Response = PathShapes;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::first((), self.limit)
    }

    fn answer(&self, view: &View<'_>) -> Result<PathShapes, Unanswered> {
        let (blocks, some) = self.sample(view)?;
        let mut paths = query::merged_paths(view.heap, &some)?;
        name_merged(view, &mut paths)?;
        Ok(PathShapes { paths, left_out: 0, looked_at: some.len() as u64, blocks })
    }
}

impl PathShapesQuestion {
    /// Samples the blocks; returns the number of all, too.
    fn sample(&self, view: &View<'_>) -> Result<(u64, Vec<BlockIndex>), Unanswered> {
        let (found, none) = match &self.of {
            BlocksOf::Type(name) => {
                (query::sample_of_type(view.heap, name, self.sample)?, named::no_type(name))
            }
            BlocksOf::Kind(kind) => {
                let mut found = query::sample(view.heap, kind, self.sample)?;
                if found.1.is_empty() {
                    // All blocks of a kind may have types; `histogram --by kind` prints it all the same.
                    found = query::sample(&view.host.heap(false)?, kind, self.sample)?;
                }
                (found, named::no_kind(kind))
            }
        };
        if found.1.is_empty() { Err(none.into()) } else { Ok(found) }
    }
}

impl Merge for PathShapes {
    type Order = ();

    fn finish(&mut self, selection: &Selection) {
        self.left_out = selection.cut(&mut self.paths);
    }

    fn size(&self) -> Bytes {
        self.paths.iter().map(|path| path.retained).sum()
    }
}

/// By which path is a block retained?
#[derive(Clone, Copy, Debug)]
pub struct PathQuestion {
    /// The block.
    pub block: u32,
    /// Show all steps inside containers.
    pub unfolded: bool,
}

/// The path of a block; none if nothing retains it.
#[derive(Clone, Debug, Serialize)]
pub struct RetainingPath {
    /// The path.
    #[serde(flatten)]
    pub path: Option<Path>,
}

impl Question for PathQuestion {
    type Response = RetainingPath;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::all()
    }

    fn answer(&self, view: &View<'_>) -> Result<RetainingPath, Unanswered> {
        let mut path = query::path(view.heap, named::block(view.heap, self.block)?)?;
        explain(view, path.as_mut_slice(), self.unfolded)?;
        Ok(RetainingPath { path })
    }
}

impl Merge for RetainingPath {
    type Order = ();
}

/// By which disjoint paths is a block retained?
#[derive(Clone, Copy, Debug)]
pub struct DisjointPathsQuestion {
    /// The block.
    pub block: u32,
    /// Show all steps inside containers.
    pub unfolded: bool,
    /// Maximum number of paths.
    pub limit: usize,
}

impl Question for DisjointPathsQuestion {
    type Response = DisjointPaths;

    fn needs_types(&self) -> bool {
        true
    }

    fn selection(&self) -> Selection {
        Selection::first((), self.limit)
    }

    fn answer(&self, view: &View<'_>) -> Result<DisjointPaths, Unanswered> {
        let block = named::block(view.heap, self.block)?;
        let mut found =
            view.work("looking for paths", || query::disjoint_paths(view.heap, block, self.limit))?;
        explain(view, &mut found.paths, self.unfolded)?;
        Ok(found)
    }
}

impl Merge for DisjointPaths {
    type Order = ();
}

/// Makes one step of those inside a container, unless all are wanted, and names steps without a type.
fn explain(view: &View<'_>, paths: &mut [Path], unfolded: bool) -> Result<(), Unanswered> {
    let heap = view.heap;
    if !unfolded && query::may_fold(heap, paths) {
        let (structures, catalogue) = view.work("looking at containers", || {
            let mut structures = Structures::new_in(view.place, &heap.snapshot, heap.threads)?;
            structures.add_first_cells(&heap.types);
            Ok::<_, Failed>((structures, Catalogue::new_in(view.place, heap)?))
        })?;
        query::fold_containers(heap, &structures, &catalogue, paths);
    }
    name_steps(view, paths)
}
