import { randomInteger, seededRandom } from '../../platform/seeded-random.ts'

/** A fictitious person. The same user is the same person at every source. */
export type Person = {
  user_id: string
  sex: 'female'
  birth_date: string
  height: number
  weight: number
  fat: number
  resting: number
  maxHeartRate: number
  /** Bedtime and wake-up time in minutes from midnight. */
  bed: number
  wake: number
  /** The usual steps per day without the workout. */
  steps: number
  glucose: number
  cycle: { length: number; first: number }
}

/** Demo people are women, because the demo covers every resource, including menstrual cycles. */
export function personOf(user_id: string): Person {
  const random = seededRandom('demo person', user_id)
  const year = randomInteger(random, 1972, 2002)
  const height = randomInteger(random, 156, 182)
  return {
    ...{ user_id, sex: 'female', height },
    birth_date: `${year}-${twoDigits(randomInteger(random, 1, 12))}-${twoDigits(randomInteger(random, 1, 28))}`,
    weight: Math.round((21 + random() * 5) * (height / 100) ** 2 * 10) / 10,
    fat: randomInteger(random, 22, 31),
    resting: randomInteger(random, 52, 66),
    maxHeartRate: 205 - Math.round((2024 - year) / 2),
    bed: -randomInteger(random, 20, 90),
    wake: randomInteger(random, 370, 440),
    steps: randomInteger(random, 5500, 9500),
    glucose: 4.9 + random() * 0.6,
    cycle: { length: randomInteger(random, 26, 30), first: randomInteger(random, 0, 29) },
  }
}

const twoDigits = (number: number) => String(number).padStart(2, '0')
