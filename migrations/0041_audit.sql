-- Runs beside 0006_processes.sql
-- Few rows of a chain have the same time, so a page sorts those by ID itself. Building the index reads the whole audit log and blocks
-- requests that write to it.
drop index audit_log_page;
create index audit_log_page on audit_log (chain_id, at);

-- Compares the binary images of both rows. Building their JSON took almost half the time of linking them.
create or replace function audit_log_guard() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' and old.chain_seq is null and new.chain_seq is not null and new.chain_hash is not null then
    old.chain_seq := new.chain_seq;
    old.chain_hash := new.chain_hash;
    if new *= old then
      return new;
    end if;
  end if;
  raise exception 'audit_log is append-only';
end $$;
