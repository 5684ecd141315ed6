import type { Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue } from '../codec/rules-read.ts'

export type ReportedCode = { loinc: string | null; local: string | null; name: string | null }

const loincPattern = /^\d{1,7}-\d$/

/** The codes of OBR-4 and OBX-3: the LOINC code, the lab's own code and the name. Either can be in the first or the second triplet. */
export function readCode(segment: Segment, field: number, localCodeIn: 1 | 4 = 1): ReportedCode {
  const repetition = fieldOf(segment, field)[0]
  const triplets = [1, 4].map((start) => ({
    start,
    code: partOf(repetition, start),
    name: partOf(repetition, start + 1),
    system: partOf(repetition, start + 2),
  }))
  const loinc = triplets.find(({ code, system }) => system === 'LN' && loincPattern.test(code))
  const others = triplets.filter((triplet) => triplet !== loinc && triplet.code)
  const local = others.find(({ start }) => start === localCodeIn) ?? others[0]
  return {
    loinc: loinc?.code ?? null,
    local: local?.code ?? null,
    name: local?.name || loinc?.name || triplets.find(({ name }) => name)?.name || null,
  }
}

export type ReportedUnit = { text: string | null; ucum: string | null }

/** The unit as it was received, and its UCUM code if the lab sent one. */
export function readUnit(segment: Segment, field: number): ReportedUnit {
  const triplets = [1, 4].map((start) => ({ code: readValue(segment, field, start), system: readValue(segment, field, start + 2) }))
  return {
    text: readValue(segment, field, 1) || readValue(segment, field, 2) || null,
    ucum: triplets.find(({ system }) => system.toUpperCase() === 'UCUM')?.code || null,
  }
}
