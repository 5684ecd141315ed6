import type { Message, Segment } from '../codec/rules-message.ts'
import { readValue, segmentsOf } from '../codec/rules-read.ts'
import type { Profile } from '../profiles/rules-profile.ts'

type LabAddress = { first_line: string; second_line: string | null; city: string; state: string; zip: string; country: string }

/** The laboratory that did the test, as CLIA requires it on a report. */
export type PerformingLab = {
  name: string
  clia_number: string | null
  address: LabAddress | null
  phone_number: string | null
  director: string | null
}

export type Sites = Map<string, Segment>

/** The ZPS segments of a message by their code. */
export const sitesOf = (message: Message): Sites =>
  new Map(segmentsOf(message, 'ZPS').flatMap((zps) => (readValue(zps, 2) ? [[readValue(zps, 2), zps]] : [])))

/** OBX-23 to OBX-25, or the ZPS segment that OBX-15 names. The other place counts if the one of the profile is empty. */
export function readPerformingLab(obx: Segment, sites: Sites, { results }: Pick<Profile, 'results'>): PerformingLab | null {
  const [inObx, inZps] = [fromObservation(obx), fromSite(obx, sites)]
  return results.performing_lab_in === 'ZPS' ? (inZps ?? inObx) : (inObx ?? inZps)
}

function fromObservation(obx: Segment): PerformingLab | null {
  const name = readValue(obx, 23)
  return name
    ? {
        name,
        clia_number: readValue(obx, 23, 10) || readValue(obx, 23, 3) || null,
        address: readAddress(obx, 24),
        phone_number: null,
        director: [readValue(obx, 25, 3), readValue(obx, 25, 2)].filter(Boolean).join(' ') || null,
      }
    : null
}

function fromSite(obx: Segment, sites: Sites): PerformingLab | null {
  const code = readValue(obx, 15)
  const zps = sites.get(code)
  const name = readValue(zps, 3)
  if (zps && name)
    return {
      name,
      clia_number: readValue(zps, 9) || null,
      address: readAddress(zps, 4),
      phone_number: readValue(zps, 5) || null,
      director:
        [1, 2, 3]
          .map((component) => readValue(zps, 7, component))
          .filter(Boolean)
          .join(' ') || null,
    }
  const producer = readValue(obx, 15, 2) || code
  return producer ? { name: producer, clia_number: null, address: null, phone_number: null, director: null } : null
}

/** Street, other designation, city, state, ZIP code and country. */
function readAddress(segment: Segment, field: number): LabAddress | null {
  const part = (component: number) => readValue(segment, field, component)
  if (![1, 2, 3, 4, 5].some(part)) return null
  return { first_line: part(1), second_line: part(2) || null, city: part(3), state: part(4), zip: part(5), country: part(6) || 'USA' }
}
