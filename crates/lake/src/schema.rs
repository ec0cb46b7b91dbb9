//! Tables and their columns. Schema 1.
//!
//! A new column may be added under the same version. A column that goes or changes its meaning raises it.

/// Version of the tables, in the metadata of each file.
pub const SCHEMA: u32 = 1;
/// Its key there.
pub const SCHEMA_KEY: &str = "memtrail.schema";
/// Key of the version of memtrail that wrote a file.
pub const WRITER_KEY: &str = "memtrail.version";

/// Type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A whole number, INT64.
    Int,
    /// A number, DOUBLE.
    Float,
    /// UTF-8.
    Text,
    /// True or false.
    Bool,
    /// A list of whole numbers.
    Ints,
    /// A map of texts.
    Texts,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name, by the conventions of OpenTelemetry and pprof with `_` for `.`.
    pub name: &'static str,
    /// Type of its values.
    pub r#type: Type,
    /// True if a value may be null: nothing is known.
    pub is_nullable: bool,
    /// True if values are many and near their predecessors: they are stored as differences.
    pub is_delta: bool,
}

const fn int(name: &'static str) -> Column {
    Column { name, r#type: Type::Int, is_nullable: false, is_delta: false }
}

const fn float(name: &'static str) -> Column {
    Column { name, r#type: Type::Float, is_nullable: false, is_delta: false }
}

const fn text(name: &'static str) -> Column {
    Column { name, r#type: Type::Text, is_nullable: false, is_delta: false }
}

impl Column {
    const fn or_null(self) -> Self {
        Self { is_nullable: true, ..self }
    }

    const fn delta(self) -> Self {
        Self { is_delta: true, ..self }
    }

    const fn of(name: &'static str, r#type: Type) -> Self {
        Self { name, r#type, is_nullable: false, is_delta: false }
    }
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Table {
    /// A recording.
    Recordings,
    /// Functions at places.
    Frames,
    /// Callstacks that allocate.
    Callstacks,
    /// A callstack in a recording.
    Samples,
    /// A moment of a recording.
    LiveSeries,
    /// A type of blocks in a snapshot.
    HeapTypes,
    /// An owner in a snapshot.
    HeapOwners,
    /// A leak suspect.
    Leaks,
    /// A sampled block.
    Blocks,
    /// A block of a snapshot.
    HeapBlocks,
    /// A pointer of a snapshot.
    HeapEdges,
    /// A root of a snapshot.
    HeapRoots,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 12] = [
        Self::Recordings,
        Self::Frames,
        Self::Callstacks,
        Self::Samples,
        Self::LiveSeries,
        Self::HeapTypes,
        Self::HeapOwners,
        Self::Leaks,
        Self::Blocks,
        Self::HeapBlocks,
        Self::HeapEdges,
        Self::HeapRoots,
    ];

    /// Its name, and that of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recordings => "recordings",
            Self::Frames => "frames",
            Self::Callstacks => "callstacks",
            Self::Samples => "samples",
            Self::LiveSeries => "live_series",
            Self::HeapTypes => "heap_types",
            Self::HeapOwners => "heap_owners",
            Self::Leaks => "suspects",
            Self::Blocks => "blocks",
            Self::HeapBlocks => "heap_blocks",
            Self::HeapEdges => "heap_edges",
            Self::HeapRoots => "heap_roots",
        }
    }

    /// True if it has a row for each block, and is written on request only.
    pub const fn is_of_blocks(self) -> bool {
        matches!(self, Self::Blocks | Self::HeapBlocks | Self::HeapEdges | Self::HeapRoots)
    }

    /// Its columns, beside the partition columns `service_name`, `service_version` and `date`.
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Recordings => {
                const {
                    &[
                        int("recording_id"),
                        text("host_name").or_null(),
                        int("process_pid").or_null(),
                        text("process_executable_path"),
                        text("process_executable_build_id_gnu").or_null(),
                        text("process_runtime_name").or_null(),
                        text("process_runtime_version").or_null(),
                        int("time_unix_nano"),
                        int("duration_nano"),
                        float("period"),
                        float("samples_per_word"),
                        int("lost"),
                        Column::of("is_too_low", Type::Bool),
                        Column::of("labels", Type::Texts),
                    ]
                }
            }
            Self::Frames => {
                const {
                    &[
                        int("frame_id"),
                        int("inline_index"),
                        text("function_name"),
                        text("function_filename"),
                        int("line_number"),
                        int("column_number"),
                    ]
                }
            }
            Self::Callstacks => {
                const {
                    &[
                        int("stack_id"),
                        Column::of("frame_ids", Type::Ints),
                        text("site_function"),
                        text("site_filename"),
                        int("site_line"),
                    ]
                }
            }
            Self::Samples => {
                const {
                    &[
                        int("recording_id"),
                        int("stack_id"),
                        int("blocks"),
                        float("alloc_space"),
                        float("alloc_space_var"),
                        float("alloc_objects"),
                        float("alloc_objects_var"),
                        float("inuse_space"),
                        float("inuse_space_var"),
                        float("inuse_objects"),
                        float("inuse_objects_var"),
                    ]
                }
            }
            Self::LiveSeries => {
                const {
                    &[
                        int("recording_id"),
                        int("time_unix_nano").delta(),
                        float("heap_minor").or_null(),
                        float("heap_major").or_null(),
                        float("heap_external").or_null(),
                        int("rss").or_null(),
                    ]
                }
            }
            Self::HeapTypes => {
                const {
                    &[
                        int("recording_id"),
                        int("snapshot_id"),
                        int("snapshot_number"),
                        int("type_id"),
                        text("type_name"),
                        int("objects"),
                        int("size"),
                        int("external_size"),
                        int("retained_size").or_null(),
                    ]
                }
            }
            Self::HeapOwners => {
                const {
                    &[
                        int("recording_id"),
                        int("snapshot_id"),
                        int("snapshot_number"),
                        int("owner_root"),
                        text("root_kind"),
                        text("owner_name"),
                        text("type_name").or_null(),
                        text("position").or_null(),
                        int("owned_size"),
                        int("owned_external_size"),
                        int("retained_size"),
                        int("retained_external_size"),
                    ]
                }
            }
            Self::Leaks => {
                const {
                    &[
                        int("recording_id"),
                        int("snapshot_id").or_null(),
                        text("rule"),
                        text("root_kind"),
                        text("owner_name"),
                        int("size"),
                        float("growth"),
                        float("growth_per_second"),
                        float("growth_per_second_var"),
                        text("site_function").or_null(),
                        text("site_filename").or_null(),
                        int("site_line").or_null(),
                        text("sentence").or_null(),
                    ]
                }
            }
            Self::Blocks => {
                const {
                    &[
                        int("recording_id"),
                        int("stack_id"),
                        int("alloc_us").delta(),
                        int("promoted_us").or_null(),
                        int("freed_us").or_null(),
                        int("words"),
                        text("space"),
                        int("domain"),
                        text("thread_name").or_null(),
                        int("samples"),
                        int("halvings"),
                        float("alloc_space"),
                        float("alloc_space_var"),
                        float("alloc_objects"),
                        float("alloc_objects_var"),
                    ]
                }
            }
            Self::HeapBlocks => {
                const {
                    &[
                        int("snapshot_id"),
                        int("block").delta(),
                        int("type_id"),
                        int("size"),
                        int("retained_size").or_null(),
                        int("owner_root").or_null(),
                        int("dominator").or_null().delta(),
                    ]
                }
            }
            Self::HeapEdges => {
                const { &[int("snapshot_id"), int("source").delta(), int("target").delta()] }
            }
            Self::HeapRoots => {
                const {
                    &[
                        int("snapshot_id"),
                        int("block"),
                        int("owner_root"),
                        text("root_kind"),
                        text("root_name"),
                        text("strength"),
                    ]
                }
            }
        }
    }
}

/// Names of the partition columns, from the outermost folder.
pub const PARTITIONS: [&str; 3] = ["service_name", "service_version", "date"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_listed_in_the_order_of_their_numbers() {
        assert!(Table::ALL.iter().enumerate().all(|(place, table)| *table as usize == place));
    }
}
