-- Runs beside 0006_processes.sql
-- Finds the events to number by their IDs. Without statistics of a new partition, PostgreSQL read all events of the team in it.
create or replace function number_events(team_id uuid, most integer, out numbered integer, out receivers uuid[])
language plpgsql set lock_timeout = '100ms' as $$
declare
  last bigint;
  since timestamptz;
  complete timestamptz;
  ids uuid[];
  ats timestamptz[];
  any_strict boolean;
  webhook record;
begin
  numbered := 0;
  receivers := '{}';
  select l.last_no, coalesce(l.complete_before, '-infinity') into last, since from event_logs l where l.team_id = number_events.team_id for update skip locked;
  if not found then
    if not exists (select from teams t where t.id = number_events.team_id) then
      return;
    end if;
    insert into event_logs (team_id, last_no) values (number_events.team_id, 0) on conflict do nothing;
    if not found then
      return;
    end if;
    last := 0;
    since := '-infinity';
  end if;
  select count(*), array_agg(due.id), array_agg(due.logged_at), bool_or(due.strict_ids is not null) into numbered, ids, ats, any_strict from (
    select e.id, e.logged_at, e.strict_ids from events e
    where e.team_id = number_events.team_id and e.no is null and e.logged_at >= since order by e.seq limit most for update
  ) due;
  if numbered = 0 then
    return;
  end if;
  update events e set no = last + due.n from unnest(ids, ats) with ordinality as due (id, at, n)
  where e.team_id = number_events.team_id and e.id = any (ids) and e.id = due.id and e.logged_at = due.at and e.logged_at >= since;
  complete := nullif(since, '-infinity');
  if numbered < most then
    -- No transaction runs for a day, so no older event can still commit.
    complete := greatest(since, now() - interval '1 day');
  end if;
  update event_logs l set last_no = last + numbered, complete_before = complete where l.team_id = number_events.team_id;
  if not any_strict then
    return;
  end if;
  for webhook in
    select w.id, array_agg(e.id order by e.no) as event_ids, array_agg(e.logged_at order by e.no) as event_ats
    from events e cross join unnest(e.strict_ids) as receiver (id) join webhooks w on w.team_id = e.team_id and w.id = receiver.id
    where e.team_id = number_events.team_id and e.no > last and e.no <= last + numbered and e.logged_at >= since and w.deleted_at is null
    group by w.id order by w.id
  loop
    perform enqueue_in_order(number_events.team_id, webhook.id, webhook.event_ids, webhook.event_ats);
    receivers := receivers || webhook.id;
  end loop;
end $$;
