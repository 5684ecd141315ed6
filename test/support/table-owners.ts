/** The tables of each feature. Only the feature's files write them, its SQL functions included. */
const tables: Record<string, string> = {
  'platform/db': 'migrations function_files heartbeat processes',
  'platform/sealing': 'sealing_keys root_keys team_epochs',
  'tenants/teams': 'orgs teams erased_teams',
  'tenants/keys': 'management_keys management_key_teams team_api_keys team_api_key_hashes access_tokens user_tokens lab_keys',
  'tenants/rates': 'rate_buckets',
  'tenants/people': 'people person_teams recovery_codes invitations',
  'tenants/sessions': 'console_sessions sign_in_attempts',
  'tenants/users': 'users user_info user_insurances',
  'tenants/insurance': 'payors team_payors icd_codes',
  'tenants/idempotency': 'idempotency_keys',
  'tenants/audit': 'audit_log audit_outbox audit_chains audit_breaks audit_verified audit_reviews',
  'delivery/events': 'outbox events event_logs log_erasures',
  'delivery/formats': 'delivery_formats',
  'delivery/disclosures': 'disclosures',
  'delivery/webhooks': 'webhooks webhook_cursors webhook_filters parked parked_messages attempts webhook_jobs inbox_messages',
  'delivery/pipelines': 'pipelines pipeline_destinations',
  'delivery/worker': 'workers',
  'delivery/messages': 'messages message_opt_outs',
  'labs/catalog': 'catalog labs analytes markers lab_tests team_lab_tests service_centers phlebotomy_areas zip_codes',
  'labs/lab-accounts': 'lab_accounts lab_account_teams',
  'labs/hl7': 'lab_messages lab_inbox lab_links',
  'labs/orders': 'orders order_events order_images lab_samples lab_fillers',
  'labs/appointments': 'calendars appointments appointment_events booked_cells shared_calendars shared_cells',
  'labs/kits': 'couriers parcels kit_limits kits',
  'labs/physicians': 'physicians',
  'labs/communication': 'communication_settings',
  'labs/results': 'results result_documents critical_results',
  'labs/unmatched': 'unmatched_results unassigned_results unmatched_result_tests',
  'labs/report-parser': 'parsing_jobs parsing_files parsing_shares',
  'wearables/connections': 'connections devices refreshes bulk_ops bulk_items',
  'wearables/ingestion': 'pull_jobs cloud_changes cloud_clients',
  'wearables/link': 'link_tokens oauth_flows',
  'wearables/team-sources': 'team_credentials scope_requirements pull_preferences',
  'wearables/data': 'sample_days summaries deleted_summaries workout_streams resource_states historical_pulls source_priorities',
  'operations/deployment': 'deployment',
  'operations/user-deletion': 'erasures',
}

/** The SQL functions that migrations define, because tables need them. The others belong to the feature whose `functions.sql` defines them. */
const schemaFunctions: Record<string, string> = {
  'platform/db': 'make_partition keep_as_written',
  'tenants/audit': 'audit_log_guard audit_outbox_guard',
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
export const schemaFunctionOwners = ownersIn(schemaFunctions)

/** Restoring a backup writes every table directly. Encrypting rows again with another key changes their ciphertext only. */
export const filesOfAllTables = ['platform/db/dump.ts', 'platform/sealing/rings/store-reseal.ts']
