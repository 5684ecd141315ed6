-- What came in live and what came in of the past is noted apart, so that neither waits for the other.
alter table resource_states add column stage text not null default 'daily' check (stage in ('daily', 'historical'));
alter table resource_states alter column stage drop default;
alter table resource_states drop constraint resource_states_pkey;
alter table resource_states add primary key (user_id, provider, resource, stage);

-- A source whose past we fetch ourselves: how often that was tried, and when somebody goes on with it at the latest. Null when it is done.
alter table connections add column pull_tries integer not null default 0;
alter table connections add column pull_due_at timestamptz;
create index connections_pull on connections (pull_due_at) where pull_due_at is not null;

-- The windows that were told of last: the same one again, with nothing new in it, is no news.
alter table historical_pulls add column told text[] not null default '{}';

-- The source that the fallback zone is from; null where the customer set it.
alter table users add column time_zone_source text;

-- Days are merged without being held. Where one of them was written meanwhile, nothing of the statement stays, and it is done anew.
create function all_written(written bigint, wanted integer) returns void language plpgsql as $$
begin
  if written < wanted then
    raise exception 'A day of samples was written twice at once' using errcode = 'serialization_failure';
  end if;
end $$;
