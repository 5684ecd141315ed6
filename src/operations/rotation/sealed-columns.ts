import type { SealedColumn } from '../../platform/sealing/rings/reseal.ts'
import type { DeploymentColumn } from '../../platform/sealing/rings/reseal-deployment.ts'

const byId = { column: 'sealed', key: ['id'], in: ['id'] }
const ofOrder = { owner: 'user', parent: 'orders' } as const

/** Every column that a key of a team or a user encrypts. A test compares the list with the schema. */
export const sealedColumns: SealedColumn[] = [
  { ...byId, table: 'teams', column: 'contact', owner: 'team' },
  { ...byId, table: 'sealing_keys', column: 'wrapped', in: ['team_id', 'user_id', 'id'], owner: 'team' },
  { ...byId, table: 'team_epochs', column: 'wrapped', in: ['team_id', 'id'], owner: 'team' },
  { ...byId, table: 'webhooks', owner: 'team' },
  { ...byId, table: 'pipeline_destinations', key: ['destination'], in: ['team_id', 'destination'], owner: 'team' },
  { ...byId, table: 'team_credentials', owner: 'team' },
  { ...byId, table: 'physicians', key: ['npi'], in: ['npi'], owner: 'team' },
  { ...byId, table: 'couriers', key: ['code'], in: ['code'], owner: 'team' },
  // Before the log, to which rows move meanwhile.
  { ...byId, table: 'outbox', as: 'events', key: ['seq'], owner: 'either' },
  { ...byId, table: 'events', key: ['id', 'logged_at'], owner: 'either' },
  { ...byId, table: 'attempts', key: ['webhook_id', 'at', 'id'], owner: 'either' },
  { ...byId, table: 'inbox_messages', owner: 'either' },
  { ...byId, table: 'messages', owner: 'either' },
  {
    table: 'idempotency_keys',
    column: 'sealed',
    key: ['operation', 'key_hash'],
    in: ['team_id', 'operation', 'key_hash'],
    owner: 'either',
  },
  { ...byId, table: 'users', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_info', key: ['user_id'], in: ['user_id'], owner: 'user' },
  { ...byId, table: 'user_insurances', in: ['user_id', 'id'], owner: 'user' },
  { ...byId, table: 'orders', owner: 'user' },
  { ...byId, table: 'lab_messages', ...ofOrder },
  { ...byId, table: 'lab_messages', column: 'answer_sealed', ...ofOrder },
  { ...byId, table: 'order_images', key: ['order_id', 'name'], in: ['order_id', 'name'], ...ofOrder },
  { ...byId, table: 'appointments', ...ofOrder },
  { ...byId, table: 'results', key: ['order_id', 'version'], in: ['order_id', 'version'], ...ofOrder },
  { ...byId, table: 'result_documents', key: ['order_id', 'version', 'n'], in: ['order_id', 'version', 'n'], ...ofOrder },
  { ...byId, table: 'critical_results', key: ['order_id', 'version'], in: ['order_id', 'version'], ...ofOrder },
  { ...byId, table: 'unmatched_results', owner: 'either' },
  { ...byId, table: 'unmatched_results', column: 'documents_sealed', owner: 'either' },
  { ...byId, table: 'parsing_jobs', owner: 'user' },
  { ...byId, table: 'parsing_files', key: ['job_id', 'n'], in: ['job_id', 'n'], owner: 'user' },
  { ...byId, table: 'connections', owner: 'user' },
  { ...byId, table: 'devices', owner: 'user' },
  { ...byId, table: 'bulk_items', key: ['op_id', 'n'], in: ['op_id', 'n'], owner: 'user' },
  { ...byId, table: 'link_tokens', column: 'mfa_sealed', owner: 'user' },
  { ...byId, table: 'summaries', owner: 'user' },
  { ...byId, table: 'workout_streams', key: ['workout_id'], in: ['workout_id'], owner: 'user' },
  {
    table: 'sample_days',
    column: 'sealed',
    key: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    in: ['user_id', 'resource', 'day', 'provider', 'source_type'],
    owner: 'user',
  },
]

const inbox = { table: 'lab_inbox', key: ['lab_id', 'control_id'], purpose: 'messages of labs' } as const
const unassigned = { table: 'unassigned_results', key: ['id'], purpose: 'results without a team' } as const

/** Every column that a key of the deployment encrypts. A test compares the list with the schema. */
export const deploymentColumns: DeploymentColumn[] = [
  { ...inbox, column: 'sealed' },
  { ...inbox, column: 'answer_sealed' },
  { ...unassigned, column: 'sealed' },
  { ...unassigned, column: 'documents_sealed' },
  { ...unassigned, column: 'summary_sealed' },
]
