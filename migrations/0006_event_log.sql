-- Runs beside 0005_operations_baseline.sql

-- The functions of the event log changed.
