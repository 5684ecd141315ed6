-- Runs beside 0006_processes.sql
-- Once a table is analyzed, PostgreSQL plans these statements again in every call, because they take arrays. With the partitions of
-- the event log, that takes longer than the work itself. The plans do not depend on the values.
alter function emit(uuid, uuid, uuid, uuid, text, text, bytea, timestamptz, boolean) set plan_cache_mode = force_generic_plan;
alter function claim_lanes(uuid, uuid[], timestamptz, uuid, uuid, integer, integer, integer, integer)
  set plan_cache_mode = force_generic_plan;
alter function settle_lanes(
  uuid, timestamptz, bigint[], uuid[], bigint[], integer[], timestamptz[], uuid[], timestamptz[], uuid[], uuid[], uuid[], timestamptz[],
  text[], text[], bigint[], integer[], text[], smallint[], text[], integer[], timestamptz[], bytea[]
) set plan_cache_mode = force_generic_plan;
