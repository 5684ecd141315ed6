-- Everything that a filter may hold to take a type: the type itself, and each of its beginnings with a star.
create function filters_for(event_type text) returns text[] language sql immutable as $$
  select array_agg(left(event_type, n) || '*') || event_type from generate_series(0, length(event_type)) as n
$$;

-- The strict webhooks that an event is told to. They get their messages when it is numbered, but who they are is decided when it happens, as for all
-- others: whoever changes a webhook in between loses nothing and gets nothing twice.
alter table events add strict_ids uuid[];

update events e set strict_ids = (
  select array_agg(w.id) from webhooks w join teams t on t.id = w.team_id
  where w.team_id = e.team_id and w.ordering = 'strict' and takes(w.filter_types, e.event_type) and (not e.partial or t.partial_webhooks_enabled)
) where e.no is null;

-- The filters that would take the type are made once, not for every webhook: of a thousand webhooks each event looks at all.
create or replace function emit(id uuid, team_id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean)
returns uuid[] language plpgsql as $$
declare
  webhook record;
  told uuid[] := '{}';
  strict_ids uuid[];
begin
  if not emit.partial or (select partial_webhooks_enabled from teams where teams.id = emit.team_id) then
    for webhook in
      select w.id, w.ordering from webhooks w
      where w.team_id = emit.team_id and (w.filter_types is null or w.filter_types && (select filters_for(emit.event_type)))
      order by w.id
    loop
      if webhook.ordering = 'per_key' then
        perform enqueue(webhook.id, emit.key, false, emit.id, now());
      elsif webhook.ordering = 'unordered' then
        perform enqueue(webhook.id, emit.id::text, true, emit.id, now());
      else
        strict_ids := strict_ids || webhook.id;
      end if;
      told := told || webhook.id;
    end loop;
  end if;
  insert into events (id, team_id, user_id, order_id, event_type, key, partial, sealed, created_at, strict_ids)
  values (emit.id, emit.team_id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.partial, emit.sealed, emit.at, strict_ids);
  return told;
end $$;

create or replace function number_events(most integer, out numbered integer, out told uuid[]) language plpgsql as $$
declare
  event record;
  webhook uuid;
begin
  numbered := 0;
  told := '{}';
  if not pg_try_advisory_xact_lock(4117202606) then
    return;
  end if;
  for event in select e.id, e.logged_at, e.strict_ids from events e where e.no is null order by e.seq limit most loop
    update events set no = nextval('event_no') where events.id = event.id and events.logged_at = event.logged_at;
    numbered := numbered + 1;
    continue when event.strict_ids is null;
    for webhook in select w.id from webhooks w where w.id = any (event.strict_ids) and w.deleted_at is null loop
      perform enqueue(webhook, '*', false, event.id, event.logged_at);
      if not webhook = any (told) then
        told := told || webhook;
      end if;
    end loop;
  end loop;
end $$;
