/** Plain-language texts for wire codes; other codes show their own words. */
const words: Record<string, string> = {
  client_bill: 'Ordering organization',
  commercial_insurance: 'Insurance',
  patient_bill: 'Patient',
  patient_bill_passthrough: 'Patient, billed through the ordering organization',
  walk_in_test: 'Walk-in at a collection site',
  at_home_phlebotomy: 'At-home blood draw',
  testkit: 'Self-collection kit',
  on_site_collection: 'On-site collection',
  dried_blood_spot: 'Dried blood spot',
  arm_collector: 'Blood from an upper-arm device',
  serum: 'Blood (serum)',
  quantity_not_sufficient_failure: 'There was not enough specimen to test.',
  insufficient_volume: 'There was not enough specimen to test.',
  collection_process_failure: 'The specimen was not collected as required.',
  drop_off_failure: 'The specimen did not reach the laboratory in time or in good condition.',
  internal_lab_failure: 'The laboratory could not complete the test.',
  order_entry_failure: 'The order was entered incorrectly.',
  non_failure: 'The test was not needed.',
  unknown_failure: 'The laboratory gave no reason.',
  patient_condition_failure: 'A condition of the patient prevented the test.',
  missing_result_calc_failure: 'It is calculated from a result that is missing.',
  missing_demo_aoe_calc_failure: 'It is calculated from an answer or a patient detail that is missing.',
}

export const labelOf = (code: string) => words[code] ?? capitalize(code.replaceAll('_', ' '))

const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

export function formatDay(day: string) {
  return new Date(`${day.slice(0, 10)}T00:00:00Z`).toLocaleDateString('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
}

/** The text includes the time zone, because laboratory, physician and patient may be in different zones. */
export function formatInstant(instant: string | null, time_zone: string | null) {
  if (!instant) return null
  const format = { month: 'short', day: 'numeric', year: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
  return new Date(instant).toLocaleString('en-US', { ...format, timeZone: time_zone ?? 'UTC', timeZoneName: 'short' })
}

/** The age in full years, or in months below the age of two. */
export function formatAge(dob: string, on: string) {
  const [year = 0, month = 0, day = 0] = on.slice(0, 10).split('-').map(Number)
  const [bornYear = 0, bornMonth = 0, bornDay = 0] = dob.slice(0, 10).split('-').map(Number)
  const months = (year - bornYear) * 12 + month - bornMonth - (day < bornDay ? 1 : 0)
  if (months < 0) return null
  if (months < 24) return `${months} ${months === 1 ? 'month' : 'months'}`
  return `${Math.floor(months / 12)} years`
}
