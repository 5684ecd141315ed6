/** The tables of each feature. Only the feature's files and the SQL functions it owns write them. */
const tables: Record<string, string> = {
  'platform/db': 'migrations heartbeat processes',
  'platform/sealing': 'sealing_keys root_keys team_epochs',
  'tenants/teams': 'orgs teams erased_teams',
  'tenants/keys': 'management_keys management_key_teams team_api_keys team_api_key_hashes access_tokens user_tokens lab_keys',
  'tenants/rates': 'rate_buckets',
  'tenants/people': 'people person_teams recovery_codes invitations',
  'tenants/sessions': 'console_sessions sign_in_attempts',
  'tenants/users': 'users user_info user_insurances',
  'tenants/insurance': 'payors team_payors icd_codes',
  'tenants/idempotency': 'idempotency_keys',
  'tenants/audit': 'audit_log audit_chains audit_breaks audit_verified audit_reviews',
  'delivery/events': 'events event_logs',
  'delivery/webhooks': 'webhooks workers lanes ended_lanes deliveries attempts webhook_jobs inbox_messages',
  'delivery/pipelines': 'pipelines pipeline_destinations',
  'delivery/messages': 'messages message_opt_outs',
  'labs/catalog': 'catalog labs analytes markers lab_tests team_lab_tests service_centers phlebotomy_areas zip_codes',
  'labs/lab-accounts': 'lab_accounts lab_account_teams',
  'labs/hl7': 'lab_messages lab_inbox lab_links',
  'labs/orders': 'orders order_events order_images lab_samples',
  'labs/appointments': 'calendars appointments appointment_events booked_cells shared_calendars shared_cells',
  'labs/kits': 'couriers parcels kit_limits kits',
  'labs/physicians': 'physicians',
  'labs/communication': 'communication_settings',
  'labs/results': 'results result_documents critical_results',
  'labs/unmatched': 'unmatched_results unassigned_results unmatched_result_tests',
  'labs/report-parser': 'parsing_jobs parsing_files',
  'wearables/connections': 'connections devices refreshes bulk_ops bulk_items',
  'wearables/ingestion': 'pull_jobs cloud_changes cloud_clients',
  'wearables/link': 'link_tokens oauth_flows',
  'wearables/team-sources': 'team_credentials scope_requirements pull_preferences',
  'wearables/data': 'sample_days summaries deleted_summaries workout_streams resource_states historical_pulls source_priorities',
  'operations/deployment': 'deployment',
  'operations/user-deletion': 'erasures',
}

/** The SQL functions of each feature. Any statement may call them; each writes tables of its own feature only. */
const functions: Record<string, string> = {
  'platform/db': 'make_partition keep_as_written',
  'platform/sealing': 'add_user_key',
  'tenants/users': 'put_user_info create_user',
  'tenants/idempotency': 'claim_key keep_outcome',
  'tenants/audit': 'append_audit append_audits link_audit reset_audit checkpoint_audit audit_log_guard',
  'delivery/events': 'emit emit_all number_events',
  'delivery/webhooks': 'takes filters_for enqueue enqueue_in_order enqueue_events key_hash claim_lanes settle_lanes',
  'labs/orders': 'place_order place_orders update_order update_orders forget_patients',
  'labs/results': 'forget_results',
  'wearables/data': 'record_received record_all_received write_pushes write_samples',
}

function ownersIn(owned: Record<string, string>) {
  const owners = new Map<string, string>()
  for (const [feature, names] of Object.entries(owned))
    for (const name of names.split(' ')) {
      if (owners.has(name)) throw new Error(`${name} has two owners: ${owners.get(name)} and ${feature}`)
      owners.set(name, feature)
    }
  return owners
}

export const tableOwners = ownersIn(tables)
export const functionOwners = ownersIn(functions)

/** Restoring a backup writes every table directly. Encrypting rows again with another key changes their ciphertext only. */
export const filesOfAllTables = ['platform/db/dump.ts', 'platform/sealing/rings/store-reseal.ts']
