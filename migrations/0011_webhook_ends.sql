-- A deleted webhook is gone for its team at once; a job takes away what waited for it, piece by piece, and then its row.
alter table webhooks add deleted_at timestamptz;
create index webhooks_deleted on webhooks (deleted_at) where deleted_at is not null;

-- When a lane was made or last settled; one that has been idle for long is taken away.
alter table lanes add settled_at timestamptz not null default now();

-- Where lanes that were taken away had come to, so that their key goes on with the next number should it ever be told of again.
create table ended_lanes (
  webhook_id uuid not null references webhooks on delete cascade,
  key_hash bytea not null,
  tail bigint not null,
  primary key (webhook_id, key_hash)
);

create function key_hash(key text) returns bytea language sql immutable as $$
  select substring(sha256(convert_to(key, 'UTF8')) for 16)
$$;

-- Puts a message on its lane. A lane that begins looks whether its key had one before; whoever else writes to the key waits for it meanwhile.
create or replace function enqueue(webhook_id uuid, key text, passing boolean, event_id uuid, event_at timestamptz) returns void language plpgsql as $$
declare
  lane bigint;
  n bigint;
  ended bigint;
begin
  insert into lanes as l (webhook_id, key, passing, tail, run_at)
  values (enqueue.webhook_id, enqueue.key, enqueue.passing, 1, now())
  on conflict on constraint lanes_webhook_id_key_key do update set tail = l.tail + 1, run_at = coalesce(l.run_at, now())
  returning l.id, l.tail into lane, n;
  if n = 1 and not enqueue.passing then
    delete from ended_lanes e where e.webhook_id = enqueue.webhook_id and e.key_hash = key_hash(enqueue.key) returning e.tail into ended;
    if ended is not null then
      n := ended + 1;
      update lanes l set head = ended, tail = n where l.id = lane;
    end if;
  end if;
  insert into deliveries (lane_id, n, event_id, event_at) values (lane, n, enqueue.event_id, enqueue.event_at);
end $$;
