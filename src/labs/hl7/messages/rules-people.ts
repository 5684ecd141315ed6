import { isUnitedStates } from '../../geography/rules-states.ts'
import { normalizePhone, transmissionName } from '../../orders/checks/rules-people.ts'
import { type Cell, componentsOf } from '../codec/rules-write.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import type { Person, Writing } from './rules-order.ts'

const nameCharsets = { ASCII: 'latin_ascii', '8859/1': 'latin_1', 'UNICODE UTF-8': null }

/** A text on one line in the character set of the profile. Accents become plain letters if the set lacks them. */
export const inCharset = ({ message }: Profile, text: string) =>
  transmissionName(text.replace(/[\s\p{Cc}]+/gu, ' ').trim(), { name_rules: { charset: nameCharsets[message.charset] } })

/** Formatted text (FT), which keeps its lines: the codec escapes a line break. */
export const linesInCharset = (profile: Profile, text: string) =>
  text
    .split(/[\n\v\f\r\u0085\u2028\u2029]+/)
    .map((line) => inCharset(profile, line))
    .filter(Boolean)
    .join('\n')

export function nameOf(profile: Profile, { first_name, last_name }: Pick<Person, 'first_name' | 'last_name'>): Cell {
  const { letter_case, max_first_name, max_last_name, name_type } = profile.patient.names
  const write = (name: string, max: number | null) => {
    const text = inCharset(profile, name)
    return (letter_case === 'upper' ? text.toUpperCase() : text).slice(0, max ?? undefined)
  }
  return [write(last_name, max_last_name), write(first_name, max_first_name), null, null, null, null, name_type]
}

export function addressOf(profile: Profile, address: Person['address']): Cell {
  if (!address) return null
  const { max_line, max_city, suffix } = profile.patient.address
  const line = (text: string | null | undefined) => inCharset(profile, text ?? '').slice(0, max_line ?? undefined)
  const [, ...others] = componentsOf(suffix)
  const country = isUnitedStates(address.country) ? others[0] : [inCharset(profile, address.country)]
  return [
    line(address.first_line),
    line(address.second_line),
    inCharset(profile, address.city).slice(0, max_city ?? undefined),
    inCharset(profile, address.state),
    address.zip,
    ...(suffix ? [country, ...others.slice(1)] : []),
  ]
}

/** US numbers in the form of the profile; a number in an unknown form as it is. */
export function phoneOf({ patient }: Profile, text: string | null): Cell {
  const [, area, exchange, line] = /^\+1(\d{3})(\d{3})(\d{4})$/.exec(normalizePhone(text ?? '') ?? '') ?? []
  if (!area) return text
  if (patient.phone === 'digits') return `${area}${exchange}${line}`
  if (patient.phone === 'parentheses') return `(${area})${exchange}-${line}`
  return [null, 'PRN', 'PH', null, '1', area, `${exchange}${line}`]
}

/** The ordering physician. */
export function providerOf({ profile, order }: Writing): Cell {
  const { physician } = order
  if (!physician) return null
  const [last = '', first = ''] = nameOf(profile, physician) as string[]
  const [, ...others] = componentsOf(profile.order.provider_suffix)
  return [physician.npi, last, first, ...others]
}
