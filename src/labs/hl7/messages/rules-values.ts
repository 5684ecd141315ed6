import { numberText, type ResultType, rangeText } from '../../../contract/labs/results.ts'
import type { Message, Segment } from '../codec/rules-message.ts'
import { fieldOf, partOf, readValue, textOf } from '../codec/rules-read.ts'

export type ReportedValue = { type: ResultType; text: string; code: string | null }

/** The value of OBX-5 by the type in OBX-2, as it was received. Null if there is none. */
export function readObservationValue(obx: Segment, delimiters: Message['delimiters']): ReportedValue | null {
  const type = readValue(obx, 2).toUpperCase()
  if (type === 'SN') return structuredNumber(obx)
  if (type === 'CE' || type === 'CWE' || type === 'CNE') return codedValue(obx)
  const text = textOf(obx, 5, delimiters)
  if (!text || text === '""') return null
  return { type: typeOfText(type, text), text, code: null }
}

/** Labs also send numbers and limits as text, such as <0.1. */
function typeOfText(type: string, text: string): ResultType {
  if (type === 'TX' || type === 'FT') return 'comment'
  if (numberText.test(text)) return 'numeric'
  return rangeText.test(text) ? 'range' : 'comment'
}

/** Comparator, number, separator, number: >^100, 1^:^128, 2^-^4. */
function structuredNumber(obx: Segment): ReportedValue | null {
  const [comparator, first, separator, second] = [1, 2, 3, 4].map((component) => readValue(obx, 5, component)) as [
    string,
    string,
    string,
    string,
  ]
  const text = `${comparator === '=' ? '' : comparator}${first}${separator}${second}`
  if (!text) return null
  const type = numberText.test(text) ? 'numeric' : rangeText.test(text) ? 'range' : 'comment'
  return { type, text, code: null }
}

/** The text of a code, or what the lab wrote in CWE-9 instead. */
function codedValue(obx: Segment): ReportedValue | null {
  const values = fieldOf(obx, 5).map((value) => ({
    code: partOf(value, 1) || partOf(value, 4),
    text: partOf(value, 2) || partOf(value, 5) || partOf(value, 9) || partOf(value, 1),
  }))
  const text = values.flatMap((value) => value.text || []).join('; ')
  return text ? { type: 'coded_value', text, code: values[0]?.code || null } : null
}
