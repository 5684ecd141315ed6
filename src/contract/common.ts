import { z } from 'zod'
import { PersonalText, PersonEmail, PersonName, PersonPhone, personal, Safe } from './personal.ts'

/** Accepted in either case, stored and returned in lower case. */
export const Id = z.guid({ error: 'Must be a UUID.' }).toLowerCase().meta({ format: 'uuid' })

export const isId = (value: unknown): value is string => typeof value === 'string' && z.regexes.guid.test(value)

/** A time in a response. */
export const Instant = z.string().meta({ format: 'date-time', example: '2026-03-01T09:30:00.000Z' })

/** PostgreSQL has no year 0, and ISO 8601 writes a year with four digits. */
const isSupportedYear = (text: string) => !(new Date(text).getUTCFullYear() < 1 || new Date(text).getUTCFullYear() > 9999)

/** A time in a request, with any offset. It is converted to UTC. */
export const InstantIn = z.iso
  .datetime({ offset: true, error: 'Must be a date-time with a zone, such as 2026-03-01T09:30:00Z.' })
  .refine(isSupportedYear, 'Must have a year from 1 to 9999.')
  .transform((text) => new Date(text).toISOString())

/** A time within a human lifetime. */
export const RecentIn = InstantIn.refine((text) => text >= '1900' && text < '2200', 'Must have a year from 1900 to 2199.')

/** A specimen ID that can be printed as a barcode. */
export const SampleId = z
  .string()
  .trim()
  .regex(/^[!-~][ -~]{0,99}$/, 'Must have 1 to 100 printable ASCII characters and not start with a space.')

const dayWith = (error: string) => z.iso.date({ error }).refine(isSupportedYear, 'Must have a year from 1 to 9999.')

const notADay = 'Must be a valid date in the format YYYY-MM-DD.'
export const Day = dayWith(notADay)

// An unescaped + in a query arrives as a space.
const writtenDay = /^(\d{4})([-/])(\d{2})\2(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+ -]\d{2}:?\d{2})?)?$/
/** A day in a request, also as YYYY/MM/DD or as a date-time. The day counts as it is written, whatever its zone. */
export const DayIn = z
  .stringFormat('date', (text) => writtenDay.test(text), { error: notADay })
  .transform((text) => text.replace(writtenDay, '$1-$3-$4'))
  .pipe(Day)

const dayOrInstant = 'Must be a date (YYYY-MM-DD) or a date-time, such as 2026-03-01T09:30:00Z.'
/** Writes the other spellings of a day or a time in ISO 8601. A time without a zone is UTC. */
const toIso = (text: string) =>
  text.replace(writtenDay, (_, year, _separator, month, day, time, zone = 'Z') => {
    const date = `${year}-${month}-${day}`
    const offset = zone.replace(/^ /, '+').replace(/^(...)(\d\d)$/, '$1:$2')
    return time ? `${date}T${time.replace(/^.{5}$/, '$&:00')}${offset}` : date
  })

const rewritten = z
  .string()
  .regex(writtenDay)
  .transform(toIso)
  .pipe(z.union([Day, InstantIn]))

/** A day or a time in a request. For other text, zod reports the error of the first form alone, so that error names both. */
export const DayOrInstant = z.union([dayWith(dayOrInstant), InstantIn, rewritten], { error: dayOrInstant })

/** An enumeration in a response is open: clients must tolerate values that are not listed. */
export const openEnum = <const V extends readonly string[]>(values: V) =>
  z.string().meta({ 'x-extensible-enum': values, example: values[0] })

export const Email = z.email({ error: 'Must be an email address.' }).max(254)

/** Whether a text says something to its reader: a space of width zero does not. */
export const hasWords = (text: string | null | undefined) => /[\p{L}\p{N}]/u.test(text ?? '')

export const Text = (max: number) => z.string().min(1, 'Must not be empty.').max(max, `Must have at most ${max} characters.`)

/** The teams to which a role is limited. */
export const TeamBindings = z
  .array(z.object({ team_id: Id }))
  .min(1, 'Send at least one team.')
  .max(100)

export const Success = z.object({ success: z.boolean() }).meta({ id: 'Success' })

export const NoContent = z.void()

export const Cursor = Text(512).nullish().describe('The next_cursor of the previous page.')

export const environments = ['sandbox', 'production'] as const
export const regions = ['us', 'eu'] as const
export const plans = ['launch', 'grow', 'scale'] as const
export const roles = ['org_admin', 'team_admin'] as const

/** The roles of a console user. `src/tenants/people/sessions/rules-roles.ts` maps them to capabilities. */
export const personRoles = [...roles, 'support', 'read_only', 'no_role'] as const

export const Environment = z.enum(environments)
export const Region = z.enum(regions)
export const Role = z.enum(roles)
export type Plan = (typeof plans)[number]
export type Role = (typeof roles)[number]
export type PersonRole = (typeof personRoles)[number]

export const genders = ['female', 'male', 'other', 'unknown'] as const
export const races = [
  'african_american_or_black',
  'asian',
  'indigenous_native_american_alaska_native',
  'other',
  'pacific_islander_or_hawaiian',
  'white_caucasian',
] as const
export const ethnicities = ['hispanic', 'non_hispanic', 'ashkenazi_jewish', 'other'] as const
export const sexualOrientations = ['lesbian_gay_or_homosexual', 'heterosexual_or_straight', 'bisexual', 'dont_know', 'other'] as const
export const genderIdentities = [
  'male',
  'female',
  'female_to_male_ftm_transgender_male_trans_man',
  'male_to_female_mtf_transgender_female_trans_woman',
  'genderqueer',
  'other',
] as const

const address = {
  first_line: Text(200),
  second_line: z.string().max(200).nullish().default(''),
  country: Text(60),
  zip: Text(20),
  city: Text(100),
  state: Text(60),
  access_notes: z.string().max(1000, 'Must have at most 1000 characters.').nullish(),
}

export const AddressIn = z.object(address).meta({ id: 'AddressInput' })
export const AddressOut = z
  .object({
    first_line: PersonalText,
    second_line: PersonalText.nullish(),
    country: Safe,
    zip: PersonalText,
    city: PersonalText,
    state: Safe,
    access_notes: PersonalText.nullish(),
  })
  .meta({ id: 'Address' })

const wholeNumber = z.int().min(0).nullish()

export const GuarantorIn = z
  .object({
    first_name: Text(100),
    last_name: Text(100),
    address: AddressIn,
    phone_number: Text(40),
    household_income: wholeNumber.describe('In US dollars.'),
    household_size: wholeNumber,
    email: z.string().max(254).nullish(),
  })
  .meta({ id: 'GuarantorInput' })

export const GuarantorOut = z
  .object({
    first_name: PersonName,
    last_name: PersonName,
    address: AddressOut,
    phone_number: PersonPhone,
    household_income: personal(z.int()).nullish(),
    household_size: personal(z.int()).nullish(),
    email: PersonEmail.nullish(),
  })
  .meta({ id: 'Guarantor' })
