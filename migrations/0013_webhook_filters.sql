-- Everything that a filter may hold to take a type: the type itself, and each of its beginnings with a star.
create function filters_for(event_type text) returns text[] language sql immutable as $$
  select array_agg(left(event_type, n) || '*') || event_type from generate_series(0, length(event_type)) as n
$$;

-- The filters that would take the type are made once, not for every webhook: of a thousand webhooks each event looks at all.
create or replace function emit(id uuid, team_id uuid, user_id uuid, order_id uuid, event_type text, key text, sealed bytea, at timestamptz, partial boolean)
returns uuid[] language plpgsql as $$
declare
  webhook record;
  told uuid[] := '{}';
begin
  insert into events (id, team_id, user_id, order_id, event_type, key, partial, sealed, created_at)
  values (emit.id, emit.team_id, emit.user_id, emit.order_id, emit.event_type, emit.key, emit.partial, emit.sealed, emit.at);
  if emit.partial and not (select partial_webhooks_enabled from teams where teams.id = emit.team_id) then
    return told;
  end if;
  for webhook in
    select w.id, w.ordering from webhooks w
    where w.team_id = emit.team_id and (w.filter_types is null or w.filter_types && (select filters_for(emit.event_type)))
    order by w.id
  loop
    if webhook.ordering = 'per_key' then
      perform enqueue(webhook.id, emit.key, false, emit.id, now());
    elsif webhook.ordering = 'unordered' then
      perform enqueue(webhook.id, emit.id::text, true, emit.id, now());
    end if;
    told := told || webhook.id;
  end loop;
  return told;
end $$;
