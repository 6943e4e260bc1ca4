/**
 * The planner settings for every connection and the embedded database. A statement is planned once per connection,
 * not for each batch size, because planning costs more than execution. The plan is made while the tables may be
 * empty, and stays until they are analyzed. On an empty table a sequential scan is cheapest, and the same plan would
 * later scan a large table for each message. Therefore only index look-ups and index order are allowed. No statement
 * runs long enough for JIT or parallel workers: a page of a list takes less time than starting one. An empty partial
 * index looks as cheap as a key. Statements that find a row by its key therefore compare its state with a parameter.
 * With a literal, they would read all rows of that state.
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
