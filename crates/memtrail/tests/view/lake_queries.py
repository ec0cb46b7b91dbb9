"""Runs the queries of a guide on DuckDB and DataFusion over the same lake, and compares their rows. usage: GUIDE LAKE"""
import math, pathlib, re, sys

import duckdb, pyarrow
from datafusion import SessionContext

guide, lake = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
questions = re.findall(r"^### ([^\n]*)\n(?:(?!^### ).)*?^```sql[^\n]*\n(.*?)^```", guide.read_text(), re.M | re.S)
tables = [folder.name for folder in lake.iterdir() if any(folder.rglob("*.parquet"))]

first = duckdb.connect()
for table in tables:
    first.execute(
        f"create view {table} as select * from read_parquet('{lake}/{table}/*/*/*/*.parquet', hive_partitioning = true,"
        " hive_types = {'service_name': VARCHAR, 'service_version': VARCHAR, 'date': VARCHAR})")
second = SessionContext()
partitions = [(name, pyarrow.string()) for name in ("service_name", "service_version", "date")]
for table in tables:
    second.register_parquet(table, str(lake / table), table_partition_cols=partitions)


def is_equal(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-3)
    return a == b


failed = False
for name, query in questions:
    ours = [tuple(row) for row in first.execute(query).fetchall()]
    batches = second.sql(query).collect()
    theirs = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    same = len(ours) == len(theirs) and all(
        len(a) == len(b) and all(map(is_equal, a, b)) for a, b in zip(ours, theirs))
    if not same or not ours:
        failed = True
        print("different:", name, *ours, "--", *theirs, sep="\n  ")
        continue
    print("equal:", name, len(ours), "rows")
    if "grew" in name:
        print("owner grew:" if "owners" in name else "grew:", *ours[0])
    print(*ours[:3], sep="\n    ")
sys.exit(failed)
