-- Deletes the reports of orders whose user is erased.
create or replace function forget_results(team_id uuid, order_ids uuid[]) returns void language plpgsql as $$
begin
  delete from results r where r.team_id = forget_results.team_id and r.order_id = any (forget_results.order_ids);
  delete from result_documents d where d.team_id = forget_results.team_id and d.order_id = any (forget_results.order_ids);
end $$;
