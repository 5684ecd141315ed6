import { invalid } from '../../platform/problem.ts'

/** What stands for the letters that are not shown. */
const DOTS = '•••'

type Mask = (text: string) => string

/** Enough to tell two rows apart, too little to know somebody by. */
const initial: Mask = (text) => `${[...text][0]}${DOTS}`
const hidden: Mask = () => DOTS
const date: Mask = () => '••••-••-••'
const phone: Mask = (text) => `${DOTS} ${text.replace(/\D/g, '').slice(-2)}`
const email: Mask = (text) => `${initial(text)}@${DOTS}`

/** Personal fields of the contract, by their names wherever they stand. */
const masks: Record<string, Mask> = {
  first_name: initial,
  last_name: initial,
  receiver_name: initial,
  patient: initial,
  patient_name: initial,
  full_name: initial,
  dob: date,
  birth_date: date,
  date_of_birth: date,
  email,
  phone_number: phone,
  first_line: hidden,
  second_line: hidden,
  city: hidden,
  zip: hidden,
  access_notes: hidden,
  member_id: hidden,
  group_id: hidden,
  insurance_id: hidden,
  patient_id: hidden,
  notes: hidden,
  clinical_notes: hidden,
  information: hidden,
  subjective: hidden,
  assessment_plan: hidden,
  passthrough: hidden,
  answer: hidden,
  race: hidden,
  ethnicity: hidden,
  sexual_orientation: hidden,
  gender_identity: hidden,
  note: hidden,
  title: hidden,
  external_user_id: hidden,
  polyline: hidden,
  summary_polyline: hidden,
  inbound_tracking_url: hidden,
  outbound_tracking_url: hidden,
}

/** Numbers that are personal, such as where somebody ran, have no shape that could stand for them. */
const withheld = new Set(['household_income', 'household_size', 'lat', 'lng'])

/** Of labs, payors and shops, whose names and addresses anybody may know. */
const public_ = new Set(['lab', 'performing_laboratories', 'company', 'org_address', 'payors'])

/** Bodies of messages, which hold JSON as text. */
const bodies = new Set(['request_body', 'response_body'])

/** An answer as the console shows it until somebody reveals it. */
export function masked(value: unknown, name = ''): unknown {
  if (public_.has(name)) return value
  if (typeof value === 'string') return bodies.has(name) ? maskedBody(value) : value && masks[name] ? masks[name](value) : value
  if (Array.isArray(value)) return value.map((one) => masked(one, name))
  if (!value || typeof value !== 'object') return withheld.has(name) ? null : value
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [key, maskedField(name, key, inside)]))
}

/** What stands in `value`: the date of a user's fallback birth date, and the words of a sample that is a note. */
const inValue: Record<string, Mask> = { fallback_birth_date: date, data: hidden }

const maskedField = (name: string, key: string, value: unknown) =>
  key === 'value' && typeof value === 'string' && value && inValue[name] ? inValue[name](value) : masked(value, key)

function maskedBody(text: string) {
  try {
    return JSON.stringify(masked(JSON.parse(text)))
  } catch {
    return text && DOTS
  }
}

/** A piece of a stream of events: only what follows `data:` says something of somebody. */
export const maskedPiece = (piece: string) => piece.replace(/^data: (.*)$/gm, (_, data: string) => `data: ${maskedBody(data)}`)

/** A form that was filled with what is masked would write the dots over what they stand for. */
export function checkNotMasked(value: unknown): void {
  if (typeof value === 'string' && value.includes('••'))
    throw invalid(['body'], 'A masked value was sent back; reveal the data before you change it, or leave the field out.')
  if (value && typeof value === 'object') for (const inside of Object.values(value)) checkNotMasked(inside)
}
