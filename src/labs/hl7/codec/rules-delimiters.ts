import { hl7Problem } from './rules-problems.ts'

/** The characters that separate the parts of a message. MSH-1 and MSH-2 declare them. */
export type Delimiters = { field: string; component: string; repetition: string; escaper: string; subcomponent: string; truncation: string }

/** The delimiters of MSH-1 and MSH-2. Newer guides add a fifth character, for truncated values. */
export function delimitersOf(separator: string, encodingCharacters: string): Delimiters {
  const [component = '', repetition = '', escaper = '', subcomponent = '', truncation = ''] = encodingCharacters
  const all = [separator, component, repetition, escaper, subcomponent, truncation].filter(Boolean)
  if (encodingCharacters.length < 4 || encodingCharacters.length > 5) throw hl7Problem('required', 'MSH-2 must have 4 or 5 characters.')
  if (!all.every((character) => /^[!-/:-@[-`{-~]$/.test(character)))
    throw hl7Problem('dataType', 'MSH-1 and MSH-2 must be ASCII punctuation.')
  if (new Set(all).size !== all.length) throw hl7Problem('dataType', 'The characters of MSH-1 and MSH-2 must differ.')
  return { field: separator, component, repetition, escaper, subcomponent, truncation }
}

/** MSH-2 of a message with these delimiters. */
export const encodingCharactersOf = ({ component, repetition, escaper, subcomponent, truncation }: Delimiters) =>
  component + repetition + escaper + subcomponent + truncation

/** The segments that declare the delimiters in their first two fields: of a message, a file and a batch. */
export const headerNames = ['MSH', 'FHS', 'BHS']
