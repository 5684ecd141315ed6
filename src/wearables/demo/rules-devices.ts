import { type SourceSlug, sources } from '../../contract/tenants/sources.ts'

/** The device types that measure a resource, in order of preference. */
const preferredDevices: Record<string, string[]> = {
  body_weight: ['scale'],
  blood_pressure: ['cuff'],
  glucose: ['automatic', 'manual_scan', 'fingerprick'],
  insulin_injection: ['insulin_pump'],
}

const wornDevices = ['watch', 'ring', 'chest_strap', 'phone', 'automatic', 'unknown']

export function deviceOf(source: SourceSlug, resource: string): string {
  const { source_types } = sources[source]
  return [...(preferredDevices[resource] ?? []), ...wornDevices].find((type) => source_types.includes(type)) ?? source_types[0] ?? 'unknown'
}

/** Whether the source measures glucose with a sensor. */
export const isSensor = (source: SourceSlug) => sources[source].source_types.some((type) => type === 'automatic' || type === 'manual_scan')
