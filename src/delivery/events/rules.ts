import { invalid } from '../../platform/problem.ts'

/** A position in the log as an opaque cursor. */
export const cursorOf = (position: number) => Buffer.from(`e${position}`).toString('base64url')

/** Decodes a cursor. Anything that Assay did not issue is rejected at `loc`. */
export function positionOf(cursor: string, loc: string[]): number {
  const digits = /^e(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  if (digits === undefined || cursorOf(Number(digits)) !== cursor)
    throw invalid(loc, 'Send a cursor unchanged as you received it, or leave it out to start with the oldest event.')
  return Number(digits)
}
