import { Problem } from '../../../platform/problem.ts'

/** Codes of HL7 table 0357, for ERR-3 of an acknowledgment. */
export const errorCodes = {
  sequence: '100',
  required: '101',
  dataType: '102',
  tableValue: '103',
  tooLong: '104',
  other: '199',
  messageType: '200',
  event: '201',
  processingId: '202',
  version: '203',
  unknownKey: '204',
  duplicateKey: '205',
  internal: '207',
} as const

export type ErrorCode = keyof typeof errorCodes

/** A message that cannot be read. The text names the place and never a value, because a message contains health data. */
export const hl7Problem = (code: ErrorCode, error_message: string) =>
  new Problem('failed', { error_type: 'HL7', error_message, code: errorCodes[code] })
