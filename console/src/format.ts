/** Wire words whose label differs from the word itself. */
const wordLabels: Record<string, string> = {
  afib: 'AFib',
  api: 'API',
  cancelled: 'canceled',
  heartrate: 'heart rate',
  hrv: 'HRV',
  id: 'ID',
  ige: 'IgE',
  igg: 'IgG',
  labtest: 'lab test',
  sample: 'specimen',
  uv: 'UV',
  vo2: 'VO2',
}

/** Wire values whose words alone make no readable label. */
const nameLabels: Record<string, string> = {
  team_key: 'team API key',
  transit_customer: 'in transit to customer',
  transit_lab: 'in transit to lab',
  problem_in_transit_customer: 'problem in transit to customer',
  problem_in_transit_lab: 'problem in transit to lab',
}

/** Turns a wire value such as `collecting_sample` into a label, in American spelling. */
export const humanize = (name: string | null | undefined) => {
  const words = (name ?? '').split('_').map((word) => wordLabels[word] ?? word)
  const text = nameLabels[name ?? ''] ?? words.join(' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const methodLabels: Record<string, string> = {
  walk_in_test: 'Walk-in',
  at_home_phlebotomy: 'At-home',
  testkit: 'Test kit',
  on_site_collection: 'On-site',
}

export const topLevelOf = (status: string) => status.split('.')[0] ?? ''
export const lowLevelOf = (status: string) => status.split('.')[2] ?? status

export const shortId = (id: string) => id.slice(0, 8)

const numberFormat = new Intl.NumberFormat('en-US')
export const formatCount = (n: number) => numberFormat.format(n)

/** A count that stops at a limit, such as 10,000+. */
export const formatCountAtLeast = (n: number, isAtLeast: boolean) => `${formatCount(n)}${isAtLeast ? '+' : ''}`

export const pluralize = (n: number, singular: string, pluralForm = `${singular}s`) =>
  `${formatCount(n)} ${n === 1 ? singular : pluralForm}`

export const formatPercent = (share: number) => `${(share * 100).toFixed(share > 0.99 && share < 1 ? 1 : 0)}%`

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relativeFormat = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })

export function formatRelativeTime(at: string, now: number) {
  const distance = Date.parse(at) - now
  const [unit, ms] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? []
  return unit && ms ? relativeFormat.format(Math.trunc(distance / ms), unit) : distance > 5_000 ? 'in a moment' : 'just now'
}

const dateTimeFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'long' })
export const formatDateTime = (at: string) => dateTimeFormat.format(new Date(at))

const dateFormat = new Intl.DateTimeFormat('en-US', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
export const formatDate = (text: string) => {
  const at = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  return Number.isNaN(at.getTime()) ? text : dateFormat.format(at)
}

export function formatDuration(ms: number) {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} days`
}

type Address = { first_line: string; second_line?: string | null | undefined; city: string; state: string; zip: string }

export const formatAddress = ({ first_line, second_line, city, state, zip }: Address) =>
  [first_line, second_line, city, state, zip].filter(Boolean).join(', ')

export const formatHeaders = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

const moneyFormat = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
export const formatMoney = (amount: number) => moneyFormat.format(amount)
