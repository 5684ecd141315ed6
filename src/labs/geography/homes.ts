import type { App } from '../../platform/app.ts'
import { loadPlaces } from '../catalog/places.ts'
import type { Home, Point } from './rules-distance.ts'
import { stateCode, stateOfZip } from './rules-states.ts'
import { loadZipLocations } from './zip-locations.ts'

/** Finds the centers of ZIP codes. The catalog comes before the built-in list. */
export async function zipLocator(app: App): Promise<(zip: string) => Point | undefined> {
  const [{ zips }, builtIn] = [await loadPlaces(app), await loadZipLocations()]
  return (zip) => zips.get(zip) ?? builtIn(zip)
}

/** A home in a ZIP code. The state of an address is better than the state of its ZIP code. */
export async function locateHome(app: App, zip_code: string, state = ''): Promise<Home> {
  const zip = zip_code.slice(0, 5)
  return { zip, state: stateCode(state) ?? stateOfZip(zip), point: (await zipLocator(app))(zip) }
}
