/** `collecting_sample` as people read it. */
export const words = (name: string | null | undefined) => {
  const text = (name ?? '').replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

export const methodWords: Record<string, string> = {
  walk_in_test: 'Walk-in',
  at_home_phlebotomy: 'At home',
  testkit: 'Test kit',
  on_site_collection: 'On site',
}

export const topOf = (status: string) => status.split('.')[0] ?? ''
export const lowOf = (status: string) => status.split('.')[2] ?? status

export const short = (id: string) => id.slice(0, 8)

const number = new Intl.NumberFormat('en-US')
export const count = (n: number) => number.format(n)

export const plural = (n: number, one: string, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`

export const percent = (share: number) => `${(share * 100).toFixed(share > 0.99 && share < 1 ? 1 : 0)} %`

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_557_600_000],
  ['month', 2_629_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
]
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' })

export function ago(at: string, now: number) {
  const distance = Date.parse(at) - now
  const [unit, ms] = units.find(([, ms]) => Math.abs(distance) >= ms) ?? []
  return unit && ms ? relative.format(Math.trunc(distance / ms), unit) : distance > 5_000 ? 'in a moment' : 'just now'
}

const exactly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' })
export const exact = (at: string) => exactly.format(new Date(at))

const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
export const day = (text: string) => {
  const at = new Date(`${text.slice(0, 10)}T00:00:00Z`)
  return Number.isNaN(at.getTime()) ? text : dayFormat.format(at)
}

export function span(ms: number) {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} days`
}

const dollars = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
export const money = (amount: number) => dollars.format(amount)
