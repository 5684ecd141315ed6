/** The reference range of a measurement. A text measurement has only `text`. */
export type ReferenceRange = {
  text: string | null
  low?: number | null
  high?: number | null
  low_inclusive?: boolean | null
  high_inclusive?: boolean | null
}
export type ReferenceRanges = { male?: ReferenceRange; female?: ReferenceRange }
export type CriticalLimits = { below: number | null; above: number | null }
export type SimulationParameters = { mean_male: number; mean_female: number; sd: number }

/** One measurement of the catalog. */
export type Analyte = {
  slug: string
  name: string
  loinc: string
  unit: string | null
  result_type: string
  reference_range: ReferenceRanges | null
  critical: CriticalLimits | null
  decimals: number | null
  sim: SimulationParameters | null
  expected_value: string | null
}

/** The measurements of an order. `analytes` can contain more than the markers expect, because labs report extra measurements. */
export type OrderedMeasurements = { markers: OrderedMarker[]; analytes: Analyte[] }
type OrderedMarker = {
  id: number
  name: string
  slug: string
  provider_id: string | null
  loinc?: string | null
  expected_results: string[]
}
