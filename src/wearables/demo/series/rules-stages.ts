import { type Random, randomInteger } from '../../../platform/seeded-random.ts'

export type Stage = { stage: 'deep' | 'light' | 'rem' | 'awake'; from: number; to: number }

/** Generates the stages of a night without gaps: less deep sleep and more REM toward morning. */
export function stagesOf({ bed, wake }: { bed: number; wake: number }, random: Random): Stage[] {
  const stages: Stage[] = []
  let from = bed
  const add = (stage: Stage['stage'], minutes: number) => {
    const to = Math.min(wake, from + minutes)
    if (to > from) stages.push({ stage, from, to })
    from = to
  }
  add('awake', randomInteger(random, 5, 15))
  for (let cycle = 0; from < wake; cycle++) {
    add('light', randomInteger(random, 18, 28))
    add('deep', Math.max(8, randomInteger(random, 30, 40) - 8 * cycle))
    add('light', randomInteger(random, 14, 22))
    add('rem', randomInteger(random, 10, 16) + 5 * cycle)
    add('awake', cycle % 2 ? randomInteger(random, 1, 4) : 0)
  }
  return stages
}
