import { type SourceSlug, sources } from '../../../contract/tenants/sources.ts'

/** What would measure a resource, in the order in which it is looked for among the devices of a source. */
const fitting: Record<string, string[]> = {
  body_weight: ['scale'],
  blood_pressure: ['cuff'],
  glucose: ['automatic', 'manual_scan', 'fingerprick'],
  insulin_injection: ['insulin_pump'],
}

const worn = ['watch', 'ring', 'chest_strap', 'phone', 'automatic', 'unknown']

export function deviceOf(source: SourceSlug, resource: string): string {
  const { source_types } = sources[source]
  return [...(fitting[resource] ?? []), ...worn].find((type) => source_types.includes(type)) ?? source_types[0] ?? 'unknown'
}

/** Whether glucose comes from a sensor under the skin. */
export const isSensor = (source: SourceSlug) => sources[source].source_types.some((type) => type === 'automatic' || type === 'manual_scan')
