import type { Sample } from './rules-codec.ts'
import { byKey } from './rules-merge.ts'

export type DownsampledSample = Sample & { min: number; max: number; count: number }

/** Returns one sample per interval and origin, with the mean, minimum, maximum and count. */
export function downsample(samples: Sample[], length: number): DownsampledSample[] {
  const found = new Map<string, DownsampledSample>()
  for (const sample of samples) {
    const at = Math.floor(sample.at / length) * length
    const key = `${at} ${sample.type} ${sample.more}`
    const bucket = found.get(key)
    if (bucket) add(bucket, sample.value)
    else found.set(key, { ...sample, at, end: at + length, min: sample.value, max: sample.value, count: 1 })
  }
  return [...found.values()].sort(byKey)
}

function add(bucket: DownsampledSample, value: number) {
  bucket.count++
  bucket.value += (value - bucket.value) / bucket.count
  bucket.min = Math.min(bucket.min, value)
  bucket.max = Math.max(bucket.max, value)
}
