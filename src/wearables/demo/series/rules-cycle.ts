import { randomNormal, seededRandom } from '../../../platform/seeded-random.ts'
import { DAY } from '../../../platform/time.ts'
import { type Day, dayAfter } from '../rules-day.ts'
import type { Person } from '../rules-person.ts'
import { roundTo } from '../rules-times.ts'

const PERIOD_DAYS = 5
const DAYS_AFTER_OVULATION = 14

/** The day of the cycle, starting with 0. */
function cycleDay({ cycle: { length, first } }: Person, date: string) {
  return (((Date.parse(date) / DAY - first) % length) + length) % length
}

/** The temperature deviation, which is higher after ovulation. */
export function cycleTemperature(person: Person, date: string) {
  const isLate = cycleDay(person, date) > person.cycle.length - DAYS_AFTER_OVULATION
  return (isLate ? 0.3 : 0) + 0.06 * randomNormal(seededRandom('demo warmth', person.user_id, date))
}

export const basalTemperature = (person: Person, date: string) => roundTo(36.3 + cycleTemperature(person, date), 2)

/** The cycles that ended on one of the days and, if `current`, the one of the last day. */
export function cyclesOf(days: Pick<Day, 'person' | 'date'>[], current: boolean) {
  const last = days.at(-1)
  const reported = days.filter((day) => isLastDay(day) || (current && day === last))
  return reported.map(({ person, date }) => cycleOf(person, date))
}

const isLastDay = ({ person, date }: Pick<Day, 'person' | 'date'>) => cycleDay(person, date) === person.cycle.length - 1

const flows = ['heavy', 'heavy', 'medium', 'light', 'light']

/** The cycle of a day, up to that day. */
function cycleOf(person: Person, date: string) {
  const { length } = person.cycle
  const today = cycleDay(person, date)
  const period_start = dayAfter(date, -today)
  const dates = Array.from({ length: today + 1 }, (_, i) => dayAfter(period_start, i))
  const fertile = length - DAYS_AFTER_OVULATION
  return {
    period_start,
    period_end: today < PERIOD_DAYS - 1 ? null : dayAfter(period_start, PERIOD_DAYS - 1),
    cycle_end: today === length - 1 ? date : null,
    is_predicted: false,
    menstrual_flow: dates.slice(0, PERIOD_DAYS).map((date, i) => ({ date, flow: flows[i] as string })),
    cervical_mucus: dates.slice(fertile - 2, fertile + 1).map((date) => ({ date, quality: 'egg_white' })),
    ovulation_test: dates.slice(fertile, fertile + 1).map((date) => ({ date, test_result: 'positive' })),
    basal_body_temperature: dates.map((date) => ({ date, value: basalTemperature(person, date) })),
  }
}
