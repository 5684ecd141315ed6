import type { Sample } from './rules-codec.ts'
import { byKey } from './rules-merge.ts'

export type Stretch = Sample & { min: number; max: number; count: number }

/** Returns one sample per interval and origin, with the mean, minimum, maximum and count. */
export function downsample(samples: Sample[], length: number): Stretch[] {
  const found = new Map<string, Stretch>()
  for (const sample of samples) {
    const at = Math.floor(sample.at / length) * length
    const key = `${at} ${sample.type} ${sample.more}`
    const stretch = found.get(key)
    if (stretch) add(stretch, sample.value)
    else found.set(key, { ...sample, at, end: at + length, min: sample.value, max: sample.value, count: 1 })
  }
  return [...found.values()].sort(byKey)
}

function add(stretch: Stretch, value: number) {
  stretch.count++
  stretch.value += (value - stretch.value) / stretch.count
  stretch.min = Math.min(stretch.min, value)
  stretch.max = Math.max(stretch.max, value)
}
