-- Runs beside 0006_processes.sql
-- When the first of the attempts failed that have not succeeded since.
alter table lab_messages add column failed_at timestamptz;
create index lab_messages_page on lab_messages (team_id, queued_at desc, id desc);
create index lab_messages_lab on lab_messages (lab_id, queued_at desc, id desc);
create index lab_inbox_received on lab_inbox (lab_id, received_at);
create index lab_inbox_failed on lab_inbox (lab_id) where state = 'failed';

-- The PDFs of a report apart from it, so that reading a queue does not read them. Null if the report has none.
alter table unmatched_results add column documents_sealed bytea;
alter table unassigned_results add column documents_sealed bytea;
