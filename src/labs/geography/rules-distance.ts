export type Point = { lat: number; lng: number }

/** Where a patient lives. `point` is undefined if the location of the ZIP code is unknown. */
export type Home = { zip: string; state: string | undefined; point: Point | undefined }

const EARTH_RADIUS_MILES = 3958.8
const radians = (degrees: number) => (degrees * Math.PI) / 180

/** The distance along the surface of the earth. */
export function milesBetween(a: Point, b: Point) {
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2
  const h = half(a.lat, b.lat) + Math.cos(radians(a.lat)) * Math.cos(radians(b.lat)) * half(a.lng, b.lng)
  return 2 * EARTH_RADIUS_MILES * Math.asin(Math.min(1, Math.sqrt(h)))
}
