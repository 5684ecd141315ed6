-- Runs beside 0006_processes.sql
create function add_user_key(team_id uuid, user_id uuid, key_id uuid, wrapped bytea) returns void language plpgsql as $$
begin
  insert into sealing_keys (team_id, id, user_id, wrapped)
  values (add_user_key.team_id, add_user_key.key_id, add_user_key.user_id, add_user_key.wrapped);
end $$;

-- Creates a user with its key, its event and the rows of the request. Returns the webhooks that have a new message, or null if the
-- client_user_id is taken.
create function create_user(
  team_id uuid, user_id uuid, client_user_id text, created_on timestamptz, time_zone text, time_zone_updated_at timestamptz,
  ingestion_start timestamptz, ingestion_end timestamptz, sealed bytea, key_id uuid, wrapped bytea,
  event_id uuid, event_type text, event_key text, event_sealed bytea,
  audit_chain_id uuid, audit_id uuid, audit_at timestamptz, audit_org_id uuid, audit_team_id uuid, audit_actor_kind text, audit_actor_id
  uuid, audit_action text, audit_subject text, audit_status smallint, audit_request_id text, audit_via text, audit_reason bytea, audit_mac
  bytea, operation text, key_hash bytea, owner uuid, outcome_status smallint, outcome_sealed bytea, outcome_user_id uuid, lock_ms integer
) returns uuid[] language plpgsql as $$
#variable_conflict use_column
declare
  created uuid;
begin
  if lock_ms is not null then
    perform set_config('lock_timeout', lock_ms::text, true);
  end if;
  insert into users (
    team_id, user_id, client_user_id, created_on, time_zone, time_zone_updated_at, ingestion_start, ingestion_end, sealed
  ) values (
    create_user.team_id, create_user.user_id, create_user.client_user_id, create_user.created_on, create_user.time_zone,
    create_user.time_zone_updated_at, create_user.ingestion_start, create_user.ingestion_end, create_user.sealed
  ) on conflict (team_id, client_user_id) where deleted_at is null do nothing
  returning user_id into created;
  if created is null then
    return null;
  end if;
  perform add_user_key(create_user.team_id, create_user.user_id, create_user.key_id, create_user.wrapped);
  if audit_id is not null then
    perform append_audit(
      audit_chain_id, audit_id, audit_at, audit_org_id, audit_team_id, audit_actor_kind, audit_actor_id, audit_action, audit_subject,
      audit_status, audit_request_id, audit_via, audit_reason, audit_mac
    );
  end if;
  if operation is not null then
    perform keep_outcome(create_user.team_id, operation, create_user.key_hash, owner, outcome_status, outcome_sealed, outcome_user_id);
  end if;
  return emit(
    create_user.team_id, event_id, create_user.user_id, null, event_type, event_key, event_sealed, create_user.created_on, false
  );
end $$;
