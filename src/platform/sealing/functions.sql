-- Adds the keys of users.
create or replace function add_user_keys(team_id uuid, user_ids uuid[], key_ids uuid[], wrapped bytea[]) returns void language plpgsql as $$
begin
  insert into sealing_keys (team_id, user_id, id, wrapped)
  select add_user_keys.team_id, k.* from unnest(user_ids, key_ids, add_user_keys.wrapped) k;
end $$;
