export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

export const secondsUntil = (instant: string, now: string) => (Date.parse(instant) - Date.parse(now)) / SECOND

export const later = (instant: string, ms: number) => new Date(Date.parse(instant) + ms).toISOString()
