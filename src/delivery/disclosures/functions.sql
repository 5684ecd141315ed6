-- Adds to the counts of a team. The rows differ in their keys.
create or replace function count_disclosures(team_id uuid, rows json) returns void language plpgsql as $$
#variable_conflict use_column
begin
  insert into disclosures as d (team_id, day, destination, receiver, event_type, fields_id, fields, count)
  select count_disclosures.team_id, r.day, r.destination, r.receiver, r.event_type, r.fields_id, r.fields, r.count
  from json_to_recordset(rows) as r (
    day date, destination text, receiver text, event_type text, fields_id uuid, fields text[], count bigint
  )
  order by r.day, r.destination, r.receiver, r.event_type, r.fields_id
  on conflict on constraint disclosures_pkey do update set count = d.count + excluded.count;
end $$;
comment on function count_disclosures is 'on the server of its first argument';
