import { type SourceSlug, sources } from '../../../contract/tenants/sources.ts'
import { sportOf } from '../../../contract/wearables/sports.ts'
import type { SummaryName } from '../../../contract/wearables/summaries.ts'
import type { SummaryOut } from '../../../contract/wearables/wearable-summaries.ts'
import type { App } from '../../../platform/app.ts'
import { providerOf } from '../../../tenants/sources/actions.ts'
import { presentSource } from '../emit.ts'
import type { SummaryDocument } from './rules-merge-summary.ts'
import type { SummaryRow } from './store-summaries.ts'

/** Summaries that also name their source in flat fields. */
const withSourceFields = new Set(['sleep_cycle', 'electrocardiogram', 'menstrual_cycle'])

/** The summary in responses and events. */
export function presentSummary<N extends SummaryName>(app: App, row: SummaryRow, document: SummaryDocument) {
  const { fields, derived, source_type, app_id, device_id } = document
  const { id, user_id, resource, created_at, updated_at } = row
  const provider = row.provider as SourceSlug
  const recorder = { source_app_id: app_id, source_device_id: device_id }
  const summary = {
    ...{ id, user_id },
    ...fields,
    ...fallbackValues(fields, derived),
    ...(withSourceFields.has(resource) ? { source_provider: provider, source_type, ...recorder } : {}),
    ...(resource === 'meal' ? { source_id: sources[provider].id, priority_id: 1, ...recorder } : {}),
    source: presentSource(app, provider, { type: source_type, app_id, device_id }),
    ...{ created_at, updated_at },
  }
  // The rules of the resource built the fields, and the contract strips everything else.
  return summary as object as SummaryOut<N>
}

const fallbackValues = (fields: Record<string, unknown>, derived: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(derived).filter(([name]) => fields[name] === null))

/** The summary as the source sent it. */
export function presentRawSummary(app: App, row: SummaryRow, { fields, raw, device_id }: SummaryDocument, priority = 1) {
  const { id, user_id, created_at, updated_at } = row
  const provider = row.provider as SourceSlug
  const sport = (fields['sport'] ?? sportOf('other')) as ReturnType<typeof sportOf>
  return {
    ...{ id, user_id, data: raw as Record<string, unknown>, created_at, updated_at },
    timestamp: startOf(row, fields),
    provider_id: (fields['provider_id'] as string | undefined) ?? id,
    ...{ source_id: sources[provider].id, priority_id: priority, priority, source_device_id: device_id },
    ...{ sport, sport_id: sport.id },
    source: providerOf(app, provider),
  }
}

const startOf = ({ calendar_date }: SummaryRow, fields: Record<string, unknown>) =>
  (fields['time_start'] ?? fields['bedtime_start'] ?? `${calendar_date}T00:00:00.000Z`) as string
