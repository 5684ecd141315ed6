import type { App } from '../../platform/app.ts'
import { declareCache } from '../../platform/caches.ts'
import { SECOND } from '../../platform/time.ts'
import * as store from './store-places.ts'

export type Site = Awaited<ReturnType<typeof store.listSites>>[number]
export type PhlebotomyArea = Awaited<ReturnType<typeof store.listAreas>>[number]
type Point = { lat: number; lng: number }

/** The collection sites, phlebotomy areas and ZIP codes of the catalog. */
export type Places = { sites: Map<number, Site[]>; areas: Map<string, PhlebotomyArea[]>; zips: Map<string, Point> }

const noPlaces: Places = { sites: new Map(), areas: new Map(), zips: new Map() }
const placesCache = declareCache(() => ({ version: undefined as string | undefined, checkedAt: 0, places: noPlaces }))

/** Placing orders is frequent, and a catalog changes rarely. */
const MAX_AGE_MS = 5 * SECOND

/** The places of the catalog, at most a few seconds old. */
export async function loadPlaces(app: App): Promise<Places> {
  const cache = placesCache(app)
  const now = performance.now()
  if (cache.version !== undefined && now - cache.checkedAt < MAX_AGE_MS) return cache.places
  const version = await store.findVersion(app.db)
  if (version === undefined) return noPlaces
  const places = cache.version === version ? cache.places : await readPlaces(app)
  Object.assign(cache, { version, checkedAt: now, places })
  return places
}

async function readPlaces({ db }: App): Promise<Places> {
  const [sites, areas, zips] = [await store.listSites(db), await store.listAreas(db), await store.listZips(db)]
  return {
    sites: Map.groupBy(sites, ({ lab_id }) => lab_id),
    areas: Map.groupBy(areas, ({ zip }) => zip),
    zips: new Map(zips.map(({ zip, lat, lng }) => [zip, { lat, lng }])),
  }
}
