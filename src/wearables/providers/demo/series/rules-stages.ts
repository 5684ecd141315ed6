import { type Random, whole } from '../../../../platform/seeded.ts'

export type Stage = { stage: 'deep' | 'light' | 'rem' | 'awake'; from: number; to: number }

/** From bed to getting up without a gap: light, deep, light, REM, and now and then awake; less deep sleep and more REM towards morning. */
export function stagesOf({ bed, wake }: { bed: number; wake: number }, random: Random): Stage[] {
  const stages: Stage[] = []
  let from = bed
  const add = (stage: Stage['stage'], minutes: number) => {
    const to = Math.min(wake, from + minutes)
    if (to > from) stages.push({ stage, from, to })
    from = to
  }
  add('awake', whole(random, 5, 15))
  for (let cycle = 0; from < wake; cycle++) {
    add('light', whole(random, 18, 28))
    add('deep', Math.max(8, whole(random, 30, 40) - 8 * cycle))
    add('light', whole(random, 14, 22))
    add('rem', whole(random, 10, 16) + 5 * cycle)
    add('awake', cycle % 2 ? whole(random, 1, 4) : 0)
  }
  return stages
}
