import { hl7Problem } from './rules-problems.ts'

const MAX_MESSAGES = 10_000

/** The messages of a file: one, several, or batches between FHS or BHS and their trailers. Either envelope can be missing. */
export function splitMessages(text: string): string[] {
  const messages: string[] = []
  let counted = 0
  for (const part of text.split(/(?<=^|[\r\n])(?=(?:MSH|FHS|BHS|BTS|FTS)(?:[!-/:-@[-`{-~]|[\r\n]|$))/, 4 * MAX_MESSAGES)) {
    const name = part.slice(0, 3)
    if (name === 'MSH') messages.push(part)
    if (name === 'BTS') counted = checkCount(part, messages.length, counted)
  }
  if (messages.length > MAX_MESSAGES) throw hl7Problem('tooLong', `The file has more than ${MAX_MESSAGES} messages.`)
  return messages
}

/** BTS-1 is the number of messages of a batch, so a file that was cut off is noticed. It can be empty. */
function checkCount(trailer: string, found: number, before: number) {
  const [, stated = ''] = trailer.trim().split(trailer.charAt(3))
  if (/^\d+$/.test(stated) && Number(stated) !== found - before)
    throw hl7Problem('sequence', `BTS-1 is ${Number(stated)}, and the batch has ${found - before} messages.`)
  return found
}
