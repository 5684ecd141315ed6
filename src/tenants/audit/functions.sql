-- Writes audit rows.
create or replace function append_audits(rows json) returns void language plpgsql as $$
begin
  insert into audit_outbox select * from json_populate_recordset(null::audit_outbox, rows);
end $$;

-- Moves committed rows from the outbox to the end of a chain, which is at `from_seq`, and deletes duplicates of rows that are in the chain.
-- Returns false if another process extended the chain first. The plans are for an outbox that is long for once.
create or replace function link_audit(
  chain_id uuid, from_seq bigint, ids uuid[], hashes bytea[], mac bytea, duplicates uuid[]
) returns boolean language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as $$
declare
  linked integer;
begin
  update audit_chains c set seq = from_seq + cardinality(hashes), mac = link_audit.mac
  where c.chain_id = link_audit.chain_id and c.seq = from_seq;
  if not found then
    return false;
  end if;
  insert into audit_log (
    chain_id, id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason, mac, chain_seq, chain_hash
  )
  -- Citus needs the distribution column as the argument itself.
  select
    link_audit.chain_id, o.id, o.at, o.org_id, o.team_id, o.actor_kind, o.actor_id, o.action, o.subject, o.status, o.request_id, o.via, o.reason,
    o.mac, from_seq + link.n, link.hash
  from unnest(ids, hashes) with ordinality as link (id, hash, n)
  join audit_outbox o on o.chain_id = link_audit.chain_id and o.id = link.id;
  get diagnostics linked = row_count;
  if linked <> cardinality(hashes) then
    raise exception 'the outbox has % of % audit rows', linked, cardinality(hashes);
  end if;
  delete from audit_outbox o where o.chain_id = link_audit.chain_id and o.id = any (ids || duplicates);
  return true;
end $$;
comment on function link_audit is 'on the server of its first argument';

-- Replaces the recorded end of a chain, or records one if there is none. Returns false if another process did it first.
create or replace function reset_audit(chain_id uuid, from_mac bytea, seq bigint, mac bytea) returns boolean language plpgsql as $$
#variable_conflict use_column
begin
  if from_mac is null then
    insert into audit_chains (chain_id, seq, mac) values (reset_audit.chain_id, reset_audit.seq, reset_audit.mac) on conflict do nothing;
  else
    update audit_chains c set seq = reset_audit.seq, mac = reset_audit.mac where c.chain_id = reset_audit.chain_id and c.mac = from_mac;
  end if;
  return found;
end $$;
comment on function reset_audit is 'on the server of its first argument';

-- Remembers that the end of a chain is in a checkpoint.
create or replace function checkpoint_audit(chain_id uuid, seq bigint) returns void language plpgsql as $$
#variable_conflict use_column
begin
  update audit_chains c set checkpoint_seq = checkpoint_audit.seq
  where c.chain_id = checkpoint_audit.chain_id and c.checkpoint_seq < checkpoint_audit.seq;
end $$;
comment on function checkpoint_audit is 'on the server of its first argument';
