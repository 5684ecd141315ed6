-- Whether a filter matches a type.
create or replace function takes(filter_types text[], event_type text) returns boolean language sql immutable as $$
  select filter_types is null or exists (
    select from unnest(filter_types) as wanted
    where case when wanted like '%*' then starts_with(event_type, rtrim(wanted, '*')) else wanted = event_type end
  )
$$;

-- Writes events to the outbox in the transaction of the change that they report. Events of one call keep their order. `sealed` has the
-- ciphertexts of the rows.
create or replace function append_events(team_id uuid, rows json, sealed bytea[]) returns void language plpgsql as $$
begin
  -- Taken before any `seq`, so that the mover knows which ones can still appear.
  perform pg_current_xact_id();
  insert into outbox (team_id, id, user_id, order_id, event_type, key, partial, created_at, sealed)
  select append_events.team_id, e.id, e.user_id, e.order_id, e.event_type, e.key, coalesce(e.partial, false), e.at, e.sealed
  from rows from (
    json_to_recordset(rows) as (id uuid, user_id uuid, order_id uuid, event_type text, key text, partial boolean, at timestamptz),
    unnest(append_events.sealed)
  ) with ordinality as e (id, user_id, order_id, event_type, key, partial, at, sealed, n)
  order by e.n;
end $$;
comment on function append_events is 'on the server of its first argument';

-- Moves committed events of a team from the outbox to its log, at most `most` of them, and returns them with the keys of their users.
-- A worker passes its ID: it becomes the owner of a team that has none, or whose owner is not among the live workers, and moves nothing
-- for a team of another one (Gap 396). Without a worker, the owner must read the log. The last row is about the log and has no event.
-- `from_seq` is a lower bound that saves the way past deleted rows. The oldest open transaction and that of the move, `next_xact`, tell the
-- caller the next one.
create or replace function move_events(team_id uuid, worker uuid, live uuid[], from_seq bigint, most integer) returns table (
  no bigint, id uuid, logged_at timestamptz, user_id uuid, order_id uuid, event_type text, key text, deliverable boolean, sealed bytea,
  created_at timestamptz, key_id uuid, wrapped_key bytea, owner uuid, changes bigint, last_seq bigint,
  oldest_xact bigint, next_xact bigint
) language plpgsql set lock_timeout = '100ms' set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  log event_logs;
  moved_at timestamptz;
  -- Citus refuses now() inside a case.
  called_at timestamptz := now();
  from_seq bigint := move_events.from_seq;
  node bigint;
  takes boolean;
  n integer;
  oldest_xact bigint;
  next_xact bigint;
begin
  select * into log from event_logs l where l.team_id = move_events.team_id for update;
  if not found then
    insert into event_logs (team_id) select t.id from teams t where t.id = move_events.team_id on conflict do nothing;
    select * into log from event_logs l where l.team_id = move_events.team_id for update;
    if not found then
      delete from outbox o where o.team_id = move_events.team_id;
      return;
    end if;
  end if;
  takes := move_events.worker is not null and log.owner is distinct from move_events.worker;
  if takes and log.owner = any (move_events.live) then
    return query select log.last_no, null::uuid, log.last_at, null::uuid, null::uuid, null::text, null::text, null::boolean, null::bytea,
      null::timestamptz, null::uuid, null::bytea, log.owner, log.changes, null::bigint, null::bigint, null::bigint;
    return;
  end if;
  -- In a Citus cluster, the high bits are those of the server. Rows from the former server of a team go first.
  select q.seq >> 48 into node from outbox q where q.team_id = move_events.team_id order by q.seq desc limit 1;
  if node > 0 and node > (select s.last_value >> 48 from outbox_seq s) then
    from_seq := (node << 48) - 1;
  end if;
  -- Read before the rows, so that every transaction that is not among the open ones has its rows there.
  oldest_xact := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  -- Every transaction with a row before one that an earlier move took is older than this one. The next ID of a snapshot says less: it
  -- follows the last transaction that has ended, so an open one can be above it.
  next_xact := pg_current_xact_id()::text::bigint;
  -- Read after the lock, so that the times of a log never decrease. Milliseconds are what a client reads.
  moved_at := greatest(date_trunc('milliseconds', clock_timestamp()), log.last_at);
  return query
    with taken as (
      delete from outbox o where o.team_id = move_events.team_id and o.seq = any (array(
        select q.seq from outbox q where q.team_id = move_events.team_id and q.seq > from_seq order by q.seq limit move_events.most
      )) returning o.*
    ),
    numbered as (
      select t.*, log.last_no + row_number() over (order by t.seq) as no, k.id as key_id, k.wrapped
      from taken t left join sealing_keys k on k.team_id = move_events.team_id and k.user_id = t.user_id
    ),
    logged as (
      -- A user without a key was erased.
      insert into events (team_id, no, logged_at, id, user_id, order_id, event_type, key, deliverable, sealed, created_at)
      select n.team_id, n.no, moved_at, n.id, case when n.key_id is not null then n.user_id end,
        case when n.user_id is null or n.key_id is not null then n.order_id end, n.event_type,
        case when n.user_id is null or n.key_id is not null then n.key end,
        not n.partial or (select t.partial_webhooks_enabled from teams t where t.id = move_events.team_id),
        case when n.user_id is null or n.key_id is not null then n.sealed end, n.created_at
      from numbered n
      returning events.*
    )
    select l.no, l.id, l.logged_at, l.user_id, l.order_id, l.event_type, l.key, l.deliverable, l.sealed, l.created_at, n.key_id, n.wrapped,
      move_events.worker, log.changes, n.seq, null::bigint, null::bigint
    from logged l join numbered n on n.no = l.no order by l.no;
  get diagnostics n = row_count;
  if n > 0 or takes then
    update event_logs l set last_no = log.last_no + n, last_at = case when n > 0 then moved_at else log.last_at end,
      owner = coalesce(move_events.worker, log.owner),
      due_at = case when move_events.worker is null then called_at else log.due_at end,
      changes = log.changes + case when move_events.worker is null then 1 else 0 end
    where l.team_id = move_events.team_id;
  end if;
  return query select log.last_no + n, null::uuid, case when n > 0 then moved_at else log.last_at end, null::uuid, null::uuid, null::text, null::text, null::boolean, null::bytea,
    null::timestamptz, null::uuid, null::bytea, coalesce(move_events.worker, log.owner), log.changes, null::bigint,
    oldest_xact, next_xact;
end $$;
comment on function move_events is 'on the server of its first argument';

-- Transaction IDs of the server that has the team: of this transaction, of the oldest one that is open, and of the next one.
create or replace function transactions_of(team_id uuid) returns table (own bigint, oldest bigint, upcoming bigint) language plpgsql as $$
begin
  own := pg_current_xact_id()::text::bigint;
  oldest := pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  upcoming := pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
  return next;
end $$;
comment on function transactions_of is 'on the server of its first argument';
