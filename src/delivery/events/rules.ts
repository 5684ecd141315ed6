import { invalid } from '../../platform/problem.ts'

/** A place in the log, as customers carry it about. They need not know what it is made of. */
export const cursorOf = (place: number) => Buffer.from(`e${place}`).toString('base64url')

/** The place that a cursor stands for; anything that we did not give is refused at `loc`. */
export function positionOf(cursor: string, loc: string[]): number {
  const digits = /^e(\d{1,15})$/.exec(Buffer.from(cursor, 'base64url').toString())?.[1]
  if (digits === undefined || cursorOf(Number(digits)) !== cursor)
    throw invalid(loc, 'Send a cursor of the log as it was given, or leave it out to begin with the oldest event.')
  return Number(digits)
}
