-- Runs beside 0005_operations.sql
-- Processes that use the database, each with the newest migration of its version. An incompatible migration
-- does not run while their leases last.
create table processes (
  id uuid primary key,
  newest text not null,
  leased_until timestamptz not null
);
