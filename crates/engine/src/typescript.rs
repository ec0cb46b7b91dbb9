//! What the page is sent, as TypeScript. `cargo xtask types` writes it into `web/src/generated`; a
//! response that the page reads is added to [`Declarations::add_responses`], and what it is made of follows.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use crate::{
    about, api_error, compare, export, filters, flame, heap, names, overview, response_body, table,
};

/// TypeScript declarations by name.
pub struct Declarations {
    config: Config,
    of_name: BTreeMap<String, String>,
}

impl Default for Declarations {
    fn default() -> Self {
        // JSON has one type of numbers, and no count comes near 2^53.
        Self { config: Config::new().with_large_int("number"), of_name: BTreeMap::new() }
    }
}

impl Declarations {
    /// Adds the headers of all responses of the engine.
    pub fn add_responses(&mut self) {
        self.add::<about::AboutResponse>();
        self.add::<overview::OverviewResponse>();
        self.add::<overview::DensityResponse>();
        self.add::<flame::FlameResponse>();
        self.add::<flame::SearchResponse>();
        self.add::<names::NamesResponse<'static>>();
        self.add::<names::CompleteResponse<'static>>();
        self.add::<table::TableResponse<'static>>();
        self.add::<table::HotFragmentsResponse<'static>>();
        self.add::<compare::CompareTableResponse<'static>>();
        self.add::<compare::CompareFlameResponse>();
        self.add::<filters::PresetsResponse>();
        self.add::<filters::ConditionsResponse>();
        self.add::<export::ExportResponse>();
        self.add::<api_error::ErrorResponse<'static>>();
        self.add_heap_responses();
        self.add::<response_body::ColumnPlace>();
    }

    fn add_heap_responses(&mut self) {
        self.add::<heap::outcome::AnalysingResponse>();
        self.add::<heap::SnapshotsResponse>();
        self.add::<heap::EvolutionResponse>();
        self.add::<heap::GrowthResponse>();
        self.add::<memtrail_heap::query::Difference>();
        self.add::<heap::RootsResponse>();
        self.add::<heap::HistogramResponse>();
        self.add::<heap::ChildrenResponse>();
        self.add::<heap::TreemapResponse>();
        self.add::<heap::FlameResponse>();
        self.add::<heap::BlockResponse>();
        self.add::<heap::PathResponse>();
        self.add::<heap::StackResponse>();
        self.add::<memtrail_heap::query::Shared>();
        self.add::<heap::StringsResponse>();
        self.add::<heap::SamplesResponse>();
    }

    /// Adds a type, and those of its fields.
    ///
    /// # Panics
    /// If another type has the same name.
    pub fn add<T: TS + ?Sized + 'static>(&mut self) {
        // Types of TypeScript's own have no place to be written to.
        if T::output_path().is_none() {
            return;
        }
        let name = T::ident(&self.config);
        let docs = T::docs().unwrap_or_default();
        let declaration = format!("{docs}export {}\n", T::decl(&self.config));
        if let Some(known) = self.of_name.insert(name.clone(), declaration.clone()) {
            assert_eq!(known, declaration, "two types have the name {name}");
            return;
        }
        T::visit_dependencies(self);
    }

    /// All of them, with an empty line between each two.
    pub fn text(&self) -> String {
        self.of_name.values().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + ?Sized + 'static>(&mut self) {
        self.add::<T>();
    }
}
