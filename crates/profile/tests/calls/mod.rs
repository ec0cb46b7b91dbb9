//! Call trees and what is computed from them, against lists of paths that are gone through one by
//! one.

mod compared;
mod flames;
mod paths;
mod points;
mod searched;
mod tables;
mod time_ordered;
mod transforms;
mod trees;
