//! What the page is sent, as TypeScript. `cargo xtask types` writes it into `web/src/generated`; a
//! response that the page reads is added to [`Declarations::add_responses`], and what it is made of follows.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

use crate::query::{HeapQuery, ProfileQuery};
use crate::{
    about, api_error, compare, export, filters, flame, heap, leaks, names, overview, process,
    response_body, source, table, time_order,
};

/// TypeScript declarations by name.
pub struct Declarations {
    config: Config,
    of_name: BTreeMap<String, String>,
    /// The types of responses by the query's name.
    of_query: BTreeMap<&'static str, Vec<String>>,
}

impl Default for Declarations {
    fn default() -> Self {
        // JSON has one type of numbers, and no count comes near 2^53.
        Self {
            config: Config::new().with_large_int("number"),
            of_name: BTreeMap::new(),
            of_query: BTreeMap::new(),
        }
    }
}

impl Declarations {
    /// Adds the headers of all responses of the engine.
    ///
    /// # Panics
    /// If a query has none.
    pub fn add_responses(&mut self) {
        self.respond::<about::AboutResponse>("about");
        self.respond::<overview::OverviewResponse>("overview");
        self.respond::<overview::DensityResponse>("density");
        self.respond::<process::ProcessResponse>("process");
        self.respond::<flame::FlameResponse>("flame");
        self.respond::<time_order::TimeOrderResponse>("timeorder");
        self.respond::<flame::SearchResponse>("search");
        self.respond::<names::NamesResponse<'static>>("names");
        self.respond::<names::CompleteResponse<'static>>("complete");
        self.respond::<table::TableResponse<'static>>("table");
        self.respond::<table::TableResponse<'static>>("branches");
        self.respond::<table::HotFragmentsResponse<'static>>("hotfragments");
        self.respond::<compare::CompareTableResponse<'static>>("compare");
        self.respond::<compare::CompareFlameResponse>("compare");
        self.respond::<filters::PresetsResponse>("presets");
        self.respond::<filters::ConditionsResponse>("conditions");
        self.respond::<export::ExportResponse>("export");
        self.respond::<source::SourceTextResponse>("sourcetext");
        self.respond::<leaks::LeaksResponse>("siteleaks");
        self.respond::<leaks::FamilyLeaksResponse>("familyleaks");
        self.add::<api_error::ErrorResponse<'static>>();
        self.add_heap_responses();
        self.add::<response_body::ColumnPlace>();
        for query in ProfileQuery::NAMES.iter().chain(HeapQuery::NAMES) {
            let query = query.to_ascii_lowercase();
            assert!(self.of_query.contains_key(&*query), "{query} has no response");
        }
    }

    fn add_heap_responses(&mut self) {
        self.add::<heap::outcome::AnalysingResponse>();
        self.respond::<heap::SnapshotsResponse>("snapshots");
        self.respond::<heap::EvolutionResponse>("evolution");
        self.respond::<heap::GrowthResponse>("heapgrowth");
        self.respond::<memtrail_heap::query::Difference>("heapdiff");
        self.respond::<heap::RootsResponse>("heaproots");
        self.respond::<heap::OwnersResponse>("heapowners");
        self.respond::<heap::JointResponse>("heapjoint");
        self.respond::<heap::ContainersResponse>("heapcontainers");
        self.respond::<heap::HistogramResponse>("heaphistogram");
        self.respond::<heap::ChildrenResponse>("heapchildren");
        self.respond::<heap::TreemapResponse>("heaptreemap");
        self.respond::<heap::FlameResponse>("heapflame");
        self.respond::<heap::BlockResponse>("heapblock");
        self.respond::<heap::PathResponse>("heappath");
        self.respond::<heap::StackResponse>("heapstack");
        self.respond::<memtrail_heap::query::Shared>("heapshared");
        self.respond::<heap::StringsResponse>("heapstrings");
        self.respond::<heap::SamplesResponse>("heapsamples");
        self.respond::<heap::WhyResponse>("heapwhy");
        self.respond::<heap::WhoResponse>("heapwho");
        self.respond::<heap::SurvivorsResponse>("heapsurvivors");
        self.respond::<heap::BlocksResponse>("heapblocks");
        self.respond::<leaks::LeaksResponse>("heapleaks");
    }

    /// Adds what a query of this name may be answered with.
    fn respond<T: TS + ?Sized + 'static>(&mut self, query: &'static str) {
        self.add::<T>();
        self.of_query.entry(query).or_default().push(T::name(&self.config));
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
        let responses = self.of_query.iter().map(|(query, types)| {
            let types = types.join(" | ");
            format!("{query}: {types}, ")
        });
        let responses = format!(
            "/** The response to each query, by the query's name. */\nexport type Responses = {{ {}}};\n",
            responses.collect::<String>()
        );
        let declarations = self.of_name.values().chain([&responses]);
        declarations.map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + ?Sized + 'static>(&mut self) {
        self.add::<T>();
    }
}
