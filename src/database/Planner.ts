/**
 * How PostgreSQL plans our statements, on every connection and in the embedded database.
 *
 * A statement is planned once for each connection, not for each number of rows that a batch may
 * have: planning costs more than running it. The plan is made while the tables may still be empty,
 * and stays until they are analyzed. An empty table is best read whole, so it would then read all
 * of a table that has grown meanwhile, for each message. Every row is looked up by a key, or comes
 * in the order of an index: those are the only plans that we want. None runs long enough for a
 * compiler, or for workers of its own: a page of a list takes less time than starting one.
 *
 * An empty partial index is as good as a key. Where a row is found by its key, its state is therefore
 * compared with a parameter: by a literal, a statement would read all rows of that state for each of its own.
 */
export const settings = {
  plan_cache_mode: "force_generic_plan",
  enable_seqscan: "off",
  enable_bitmapscan: "off",
  enable_hashjoin: "off",
  enable_mergejoin: "off",
  jit: "off",
  max_parallel_workers_per_gather: "0"
} as const
