"""Duplicates over documents of any number, with the verdicts of ``tidings dedup``.

Two documents can only be compared if they share a key. So the keys of all documents make a graph, its connected
components are found by the engine, and each component is judged by the rule of the product, in the order of its
documents. Documents without a shared key are new.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import _tidings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Rounds after which components that still change are an error. Paths of labels halve in each.
MAX_ROUNDS = 100
#: Memory for the fingerprints of a bucket; older ones are on the disk of the task.
MEMORY_MIB = 256


def dedup(
    documents: DataFrame,
    *,
    work: str | os.PathLike[str],
    order: Sequence[str] = ("position", "number"),
    rule: str = "tidings",
    scope: str = "all",
    marks: bool = True,
    buckets: int | None = None,
) -> DataFrame:
    """Finds duplicate paragraphs, exactly as ``tidings dedup`` does on one machine.

    Args:
        documents: Rows with the column ``line``, a line of ``docs/`` or any JSON object with ``paragraphs``. They are read
            twice, so save them before.
        work: A folder for intermediate results that all workers can reach; what is there is replaced.
        order: The columns that put the documents in their order: of two copies, the earlier one is kept. Rows must
            differ in them. The order of the rows does not matter.
        rule: The preset of the rule: ``tidings``, ``onion``, ``aranea`` or ``now``.
        scope: Compare with all earlier documents (``all``), those of a window of days (``30d``), of the same ``month``
            or the same ``site``. A window needs an order by date.
        marks: Mark duplicates in the lines; without it they are removed.
        buckets: Tasks that judge components; two for each task of the engine by default. A component is judged in one
            task, which needs memory for its documents.

    Returns:
        The columns of ``order``, and ``line``, read from ``work``.
    """
    from pyspark.sql import functions as F

    spark, work, order = documents.sparkSession, os.fspath(work), list(order)
    rows = documents.select(*order, "line").withColumn("doc", F.xxhash64(*order))
    keys_of = functools.partial(_keys, rule=rule, scope=scope)
    keys = _saved(rows.select("doc", "line").mapInArrow(keys_of, "doc bigint, key bigint"), f"{work}/keys")
    # The documents of a key form a star around one of them. Two rows whose names have the same hash are one node: their
    # components are joined, which changes no verdict.
    firsts = keys.groupBy("key").agg(F.min("doc").alias("first"), F.max("doc").alias("last"))
    shared = firsts.where(F.col("first") < F.col("last")).select("key", "first")
    edges = keys.join(shared, "key").where(F.col("doc") != F.col("first")).select("doc", "first").distinct()
    labels = components(_saved(edges, f"{work}/edges"), work=f"{work}/components")
    count = buckets or 2 * _tasks(spark)
    labelled = rows.join(labels.withColumnRenamed("node", "doc"), "doc", "left")
    bucket = F.pmod(F.xxhash64(F.coalesce("label", "doc")), F.lit(count))
    alone = F.when(F.col("label").isNull(), F.lit("1")).otherwise(F.lit("0"))
    bucketed = labelled.select(*order, "line", alone.alias("alone"), bucket.alias("bucket"))
    types = {field.name: field.dataType.simpleString() for field in rows.schema.fields}
    schema = ", ".join([f"`{name}` {types[name]}" for name in order] + ["line string", "bucket bigint", "size bigint"])

    # Without type hints, from which pyspark would infer another kind of function.
    def judge(table):  # type: ignore[no-untyped-def]
        return _judged(table, order=order, rule=rule, scope=scope, marks=marks)

    judged = _saved(bucketed.groupBy("bucket").applyInArrow(judge, schema), f"{work}/judged")
    _check(documents, judged, order)
    return judged.select(*order, "line")


def _saved(frame: DataFrame, path: str) -> DataFrame:
    """The rows of a frame, saved: they are not computed again, and their plan is forgotten."""
    frame.write.mode("overwrite").parquet(path)
    # A frame without rows may leave no file that tells its columns.
    return frame.sparkSession.read.schema(frame.schema).parquet(path)


def _tasks(spark: Any) -> int:
    try:
        return int(spark.conf.get("spark.sql.shuffle.partitions"))
    except Exception:  # Engines have exceptions of their own for settings that they do not know.
        return 200


def _keys(batches: Iterable[pa.RecordBatch], *, rule: str, scope: str) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        keys = pa.table(_tidings.dedup_keys(batch.select(["line"]), rule, scope))["keys"].combine_chunks()
        doc = batch.column("doc").take(pc.list_parent_indices(keys))
        yield pa.RecordBatch.from_pydict({"doc": doc, "key": pc.list_flatten(keys)})


def _judged(table: pa.Table, *, order: list[str], rule: str, scope: str, marks: bool) -> pa.Table:
    # An engine may have dropped any order, so the rows are sorted here.
    table = table.sort_by([(name, "ascending") for name in order])
    judge = _tidings.ComponentJudge(rule, scope, marks, MEMORY_MIB)
    parts = [pa.table(judge.write(part)) for part in table.select(["line", "alone"]).to_batches(max_chunksize=1024)]
    columns = {name: table[name] for name in order}
    columns["line"] = pa.concat_tables(parts)["line"]
    columns["bucket"] = table["bucket"]
    columns["size"] = pa.array([len(table)] * len(table), pa.int64())
    return pa.table(columns)


def _check(documents: DataFrame, judged: DataFrame, order: list[str]) -> None:
    """Every document is judged once, with all of its bucket."""
    from pyspark.sql import functions as F

    given, found, distinct = documents.count(), judged.count(), judged.select(*order).distinct().count()
    if given != found:
        raise _tidings.TidingsError(f"{given} documents were given, but the engine returned {found}; run again")
    if distinct != found:
        raise _tidings.TidingsError(f"{found - distinct} documents have the same {', '.join(order)} as others")
    sizes = judged.groupBy("bucket").agg(
        F.count("*").alias("rows"), F.min("size").alias("least"), F.max("size").alias("most")
    )
    divided = sizes.where((F.col("rows") != F.col("least")) | (F.col("rows") != F.col("most"))).count()
    if divided:
        raise _tidings.TidingsError(f"the engine divided {divided} groups of documents among tasks; run again")


def components(edges: DataFrame, *, work: str | os.PathLike[str]) -> DataFrame:
    """The connected components of a graph: ``node`` and ``label``, the smallest node of its component.

    FastSV (Zhang, Azad and Hu 2020): in each round, the parents of a node and its own parent take the smallest
    grandparent of its neighbours, until nothing changes. Labels are saved after each round, so that a lost worker costs
    a round at most.

    Args:
        edges: Two columns of type bigint, each row an edge.
        work: A folder for the labels that all workers can reach; what is there is replaced.
    """
    from pyspark.sql import functions as F

    work = os.fspath(work)
    first, second = edges.columns
    one_way = edges.select(F.col(first).alias("u"), F.col(second).alias("v"))
    both = one_way.unionByName(edges.select(F.col(second).alias("u"), F.col(first).alias("v")))
    start = both.groupBy("u").agg(F.least("u", F.min("v")).alias("label"))
    labels = _saved(start.select(F.col("u").alias("node"), "label"), f"{work}/labels-0")
    for number in range(1, MAX_ROUNDS + 1):
        labels = _saved(_round(both, labels), f"{work}/labels-{number}")
        if labels.where(F.col("label") != F.col("before")).limit(1).count() == 0:
            return labels.select("node", "label")
    raise _tidings.TidingsError(f"components still change after {MAX_ROUNDS} rounds; please report it")


def _round(both: DataFrame, labels: DataFrame) -> DataFrame:
    from pyspark.sql import functions as F

    parents = labels.select("node", F.col("label").alias("parent"))
    of_parents = labels.select(F.col("node").alias("parent"), F.col("label").alias("grand"))
    known = parents.join(of_parents, "parent")
    near = both.join(known.select(F.col("node").alias("v"), "grand"), "v").groupBy("u").agg(F.min("grand").alias("near"))
    rows = known.join(near.withColumnRenamed("u", "node"), "node")
    own = rows.select("node", F.least("grand", "near").alias("label"), F.col("parent").alias("before"))
    hooked = rows.select(F.col("parent").alias("node"), F.col("near").alias("label"))
    hooked = hooked.withColumn("before", F.lit(None).cast("bigint"))
    merged = own.unionByName(hooked).groupBy("node")
    return merged.agg(F.min("label").alias("label"), F.max("before").alias("before"))
