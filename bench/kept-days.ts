import { query } from '../test/support/databases.ts'

const KEPT_DAYS = 90

/** Gives the database a partition for each day that Assay keeps by default, like a service that has run for as long. */
export const addKeptDays = (database: string) =>
  query(
    database,
    `select make_partition(parent, day::date)
     from unnest(array['events', 'attempts']) as parent,
       generate_series(current_date - $1::int, current_date - 1, interval '1 day') as day`,
    [KEPT_DAYS],
  )
