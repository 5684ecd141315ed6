-- Each table is written by one feature. A statement that also has to write a table of another feature calls that feature's function,
-- so a hot write stays one round trip.

-- platform/sealing: the key of a new user.
create function add_user_key(id uuid, team_id uuid, user_id uuid, wrapped bytea) returns void language plpgsql as $$
begin
  insert into sealing_keys (id, team_id, user_id, wrapped) values (add_user_key.id, add_user_key.team_id, add_user_key.user_id, add_user_key.wrapped);
end $$;

-- tenants/users: the demographics that came with an order. Strict: an order without demographics calls nothing.
create function put_user_info(user_id uuid, team_id uuid, sealed bytea, terms text[], updated_at timestamptz) returns void strict language plpgsql as $$
begin
  insert into user_info (user_id, team_id, sealed, terms, updated_at)
  values (put_user_info.user_id, put_user_info.team_id, put_user_info.sealed, put_user_info.terms, put_user_info.updated_at)
  on conflict on constraint user_info_pkey do update set sealed = excluded.sealed, terms = excluded.terms, updated_at = excluded.updated_at;
end $$;

-- tenants/audit: the audit row of a request.
create function append_audit(
  id uuid, at timestamptz, org_id uuid, team_id uuid, actor_kind text, actor_id uuid, action text, subject text, status smallint, request_id text,
  via text, reason bytea
) returns void language plpgsql as $$
begin
  insert into audit_log (id, at, org_id, team_id, actor_kind, actor_id, action, subject, status, request_id, via, reason)
  values (append_audit.id, append_audit.at, append_audit.org_id, append_audit.team_id, append_audit.actor_kind, append_audit.actor_id,
    append_audit.action, append_audit.subject, append_audit.status, append_audit.request_id, append_audit.via, append_audit.reason);
end $$;

-- labs/results: the reports of an order whose user was erased.
create function forget_results(order_id uuid) returns void language plpgsql as $$
begin
  delete from results where results.order_id = forget_results.order_id;
end $$;

-- labs/orders: what is left of an order whose user was erased.
create or replace function forget_patient() returns trigger language plpgsql as $$
begin
  perform forget_results(new.id);
  delete from order_images where order_id = new.id;
  new.sealed := null;
  new.terms := '{}';
  new.seed := '';
  new.sample_id := null;
  new.health_insurance_id := null;
  new.simulation := null;
  new.dispatch_at := null;
  new.step_at := null;
  return new;
end $$;
