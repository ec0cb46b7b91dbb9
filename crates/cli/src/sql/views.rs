//! Statements that make a view of each table of a lake.

use std::fmt::Write as _;
use std::path::Path;

use memtrail_lake::error::Error;
use memtrail_lake::footer;
use memtrail_lake::schema::{Column, PARTITIONS, Table, Type};

/// The statements, for a lake with this path.
pub(super) fn of(lake: &Path, path: &str) -> Result<String, Error> {
    let mut text = String::new();
    for table in Table::ALL {
        let is_empty = footer::files(lake, table)?.is_empty();
        let rows = if is_empty { none(table) } else { all(table, path) };
        let _ = writeln!(text, "create view {} as {rows};", table.name());
    }
    Ok(text)
}

/// The rows of a table's files. Versions are texts: `duckdb` would read 1.10 as 1.1.
fn all(table: Table, path: &str) -> String {
    let files = format!("{}/{}/*/*/*/*.parquet", escaped_glob(path), table.name());
    let [service, version, date] = PARTITIONS;
    format!(
        "select * from read_parquet({}, union_by_name = true, hive_partitioning = true, \
         hive_types = {{'{service}': VARCHAR, '{version}': VARCHAR, '{date}': VARCHAR}})",
        literal(&files)
    )
}

/// No rows, of a table without files.
fn none(table: Table) -> String {
    let columns = table.columns().iter().map(|column: &Column| {
        let r#type = match column.r#type {
            Type::Int => "BIGINT",
            Type::Float => "DOUBLE",
            Type::Text => "VARCHAR",
            Type::Bool => "BOOLEAN",
            Type::Ints => "BIGINT[]",
            Type::Texts => "MAP(VARCHAR, VARCHAR)",
        };
        format!("cast(null as {type}) as {}", column.name)
    });
    let partitions = PARTITIONS.iter().map(|name| format!("cast(null as VARCHAR) as {name}"));
    let columns: Vec<String> = columns.chain(partitions).collect();
    format!("select {} where false", columns.join(", "))
}

/// A text in SQL.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A path in a pattern of paths.
fn escaped_glob(path: &str) -> String {
    let mut escaped = String::new();
    for letter in path.chars() {
        match letter {
            '*' | '?' | '[' => {
                let _ = write!(escaped, "[{letter}]");
            }
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_no_sql_and_no_patterns() {
        assert_eq!(literal("it's"), "'it''s'");
        let rows = all(Table::Samples, "/tmp/a'; drop table x; --/[b]*");
        assert!(rows.contains("'/tmp/a''; drop table x; --/[[]b][*]/samples/"), "{rows}");
    }
}
