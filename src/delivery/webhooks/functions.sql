-- The cursors of a team for its owner, and none for another worker. `held` has the cursors that the owner holds, as it knows them. Those
-- that it does not hold, or that have changed, get a new term, which ends the rights of whoever held them.
create or replace function take_cursors(team_id uuid, worker uuid, held json) returns setof webhook_cursors language plpgsql as $$
#variable_conflict use_column
begin
  perform from event_logs l where l.team_id = take_cursors.team_id and l.owner = take_cursors.worker for share;
  if not found then
    return;
  end if;
  with taken as (
    select c.webhook_id from webhook_cursors c
    where c.team_id = take_cursors.team_id and not exists (
      select from json_to_recordset(held) as h (webhook_id uuid, term bigint, flush bigint)
      where h.webhook_id = c.webhook_id and h.term = c.term and h.flush = c.flush
    )
    order by c.webhook_id for update
  )
  update webhook_cursors c set term = c.term + 1
  from taken t where c.team_id = take_cursors.team_id and c.webhook_id = t.webhook_id;
  return query select c.* from webhook_cursors c where c.team_id = take_cursors.team_id;
end $$;
comment on function take_cursors is 'on the server of its first argument';

-- Records outcomes of a team: positions of cursors and jobs, attempts, what is parked, released or retried, and what was disclosed, which
-- is in `cursors`. All cursors must have the
-- named term and number of flushes, or nothing changes. Returns the cursors that do not, with what they have. Cursors that are gone do not count.
create or replace function record_outcomes(
  team_id uuid, cursors json, jobs json, parked json, messages json, released json, removed json,
  attempt_ids uuid[], ats timestamptz[], webhook_ids uuid[], user_ids uuid[], event_ids uuid[], event_ats timestamptz[], nos bigint[],
  previous bigint[], event_types text[], keys text[], numbers integer[], outcomes text[], statuses smallint[], errors text[],
  durations integer[], next_ats timestamptz[], sealed bytea[]
) returns table (webhook_id uuid, term bigint, flush bigint) language plpgsql set plan_cache_mode = force_generic_plan as $$
#variable_conflict use_column
declare
  known_users uuid[];
  disclosed json;
begin
  if cardinality(user_ids) > 0 then
    select array_agg(u.user_id) into known_users
    from users u where u.team_id = record_outcomes.team_id and u.user_id = any (user_ids);
  end if;
  perform from webhook_cursors c
  where c.team_id = record_outcomes.team_id and c.webhook_id = any (array(select r.webhook_id from json_to_recordset(cursors) as r (webhook_id uuid)))
  order by c.webhook_id for update;
  return query
    select c.webhook_id, c.term, c.flush from webhook_cursors c
    join json_to_recordset(cursors) as r (webhook_id uuid, term bigint, flush bigint) on r.webhook_id = c.webhook_id
    where c.team_id = record_outcomes.team_id and (c.term, c.flush) <> (r.term, r.flush);
  if found then
    return;
  end if;
  update webhook_cursors c set after_no = r.after_no, after_at = r.after_at, last_no = r.last_no, done = r.done, attempts = r.attempts,
    retry_at = r.retry_at, flush = c.flush + 1
  from json_to_recordset(cursors) as r (
    webhook_id uuid, after_no bigint, after_at timestamptz, last_no bigint, done bigint[], attempts integer, retry_at timestamptz
  )
  where c.team_id = record_outcomes.team_id and c.webhook_id = r.webhook_id;
  select json_agg(d) into disclosed from json_to_recordset(cursors) as r (disclosed json), json_array_elements(r.disclosed) as d;
  if disclosed is not null then
    perform count_disclosures(record_outcomes.team_id, disclosed);
  end if;
  if jobs is not null then
    update webhook_jobs j set after_no = r.after_no, decided = r.decided, done = j.done + r.done, sent = j.sent + r.sent,
      state = case when r.is_over and j.state = 'running' then 'done' else j.state end,
      -- A replay can end before its events are counted.
      counted = j.counted or r.is_over, total = case when r.is_over and not j.counted then j.done + r.done else j.total end, updated_at = r.at
    from json_to_recordset(jobs) as r (
      id uuid, after_no bigint, decided bigint[], done bigint, sent bigint, is_over boolean, at timestamptz
    )
    where j.team_id = record_outcomes.team_id and j.id = r.id;
  end if;
  if released is not null then
    delete from parked_messages m using json_to_recordset(released) as r (webhook_id uuid, key text, no bigint)
    where m.team_id = record_outcomes.team_id and m.webhook_id = r.webhook_id and m.key = r.key and m.no = r.no;
  end if;
  if parked is not null then
    insert into parked as p (team_id, webhook_id, key, attempts, retry_at)
    select record_outcomes.team_id, r.webhook_id, r.key, r.attempts, r.retry_at
    from json_to_recordset(record_outcomes.parked) as r (webhook_id uuid, key text, attempts integer, retry_at timestamptz)
    join webhook_cursors c on c.team_id = record_outcomes.team_id and c.webhook_id = r.webhook_id
    order by r.webhook_id, r.key
    on conflict on constraint parked_pkey do update set attempts = excluded.attempts, retry_at = excluded.retry_at;
  end if;
  if messages is not null then
    -- The event may have been erased since it was read.
    insert into parked_messages (team_id, webhook_id, key, no, logged_at, previous, format)
    select record_outcomes.team_id, r.webhook_id, r.key, r.no, r.logged_at, r.previous, r.format
    from json_to_recordset(messages) as r (webhook_id uuid, key text, no bigint, logged_at timestamptz, previous bigint, format text)
    join parked p on p.team_id = record_outcomes.team_id and p.webhook_id = r.webhook_id and p.key = r.key
    order by r.webhook_id, r.key, r.no
    on conflict do nothing;
  end if;
  if removed is not null then
    delete from parked p using json_to_recordset(removed) as r (webhook_id uuid, key text)
    where p.team_id = record_outcomes.team_id and p.webhook_id = r.webhook_id and p.key = r.key
      and not exists (
        select from parked_messages m where m.team_id = record_outcomes.team_id and m.webhook_id = p.webhook_id and m.key = p.key
      );
  end if;
  insert into attempts (
    team_id, id, at, webhook_id, user_id, event_id, event_at, no, previous, event_type, key, attempt, outcome, status, error, ms, next_at, sealed
  )
  select record_outcomes.team_id, a.* from unnest(
    attempt_ids, ats, webhook_ids, user_ids, event_ids, event_ats, nos, record_outcomes.previous, event_types, keys, numbers, outcomes, statuses,
    errors, durations, next_ats, record_outcomes.sealed
  ) as a (
    id, at, webhook_id, user_id, event_id, event_at, no, previous, event_type, key, attempt, outcome, status, error, ms, next_at, sealed
  )
  where a.user_id is null or a.user_id = any (known_users)
  on conflict do nothing;
end $$;
comment on function record_outcomes is 'on the server of its first argument';
