-- Runs beside 0006_processes.sql
-- Whether responses and events have null for demographics that an order did not give, instead of Not Specified.
alter table teams add column strict_enums boolean not null default false;
