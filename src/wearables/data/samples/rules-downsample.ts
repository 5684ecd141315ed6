import type { Sample } from './rules-codec.ts'
import { byKey } from './rules-merge.ts'

export type DownsampledSample = Sample & { min: number; max: number; count: number }

/** Returns one sample per interval and origin, with the mean, minimum, maximum and count. */
export function downsample(samples: Sample[], length: number): DownsampledSample[] {
  const found = new Map<string, DownsampledSample>()
  let bucket: DownsampledSample | undefined
  for (const sample of samples) {
    const { type, value, more } = sample
    const at = Math.floor(sample.at / length) * length
    // Most samples belong to the interval of the one before.
    if (bucket?.at !== at || bucket.type !== type || bucket.more !== more) {
      const key = `${at} ${type} ${more}`
      bucket = found.get(key) ?? { ...sample, value: 0, at, end: at + length, min: value, max: value, count: 0 }
      found.set(key, bucket)
    }
    add(bucket, value)
  }
  return [...found.values()].sort(byKey)
}

function add(bucket: DownsampledSample, value: number) {
  bucket.count++
  bucket.value += (value - bucket.value) / bucket.count
  bucket.min = Math.min(bucket.min, value)
  bucket.max = Math.max(bucket.max, value)
}
