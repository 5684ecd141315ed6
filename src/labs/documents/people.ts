import { formatAge, formatDay } from './formatting.ts'

type Address = {
  first_line: string
  second_line: string | null
  city: string
  state: string
  zip: string
  country: string | null
}

export type Patient = {
  first_name: string
  last_name: string
  dob: string
  gender: string | null
  address: Address | null
  phone_number: string | null
}

export type Physician = { first_name: string; last_name: string; npi: string | null }

export type Laboratory = {
  name: string
  first_line_address: string | null
  city: string | null
  state: string | null
  zipcode: string | null
  phone_number: string | null
  clia_number: string | null
}

export const nameOf = ({ first_name, last_name }: { first_name: string; last_name: string }) => `${first_name} ${last_name}`

export const lastNameFirst = ({ first_name, last_name }: Patient) => `${last_name}, ${first_name}`

/** `on` is the day for which the age is calculated. */
export function birthWithAge({ dob }: Patient, on: string) {
  const age = formatAge(dob, on)
  return age ? `${formatDay(dob)} (${age})` : formatDay(dob)
}

export const addressOf = (address: Address) =>
  [
    address.first_line,
    address.second_line,
    [address.city, joinParts([address.state, address.zip], ' ')].join(', '),
    foreignCountry(address),
  ]
    .filter(Boolean)
    .join('\n')

export const labAddressOf = (lab: Laboratory) =>
  joinParts([lab.first_line_address, lab.city, joinParts([lab.state, lab.zipcode], ' ')], ', ')

export const joinParts = (parts: (string | null | undefined)[], separator: string) => parts.filter(Boolean).join(separator)

const foreignCountry = ({ country }: Address) => (country === 'US' ? null : country)
