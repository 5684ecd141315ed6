/** Where healthy people lie; a measurement that is a text has only the text. */
export type ReferenceRange = {
  text: string | null
  low?: number | null
  high?: number | null
  low_inclusive?: boolean | null
  high_inclusive?: boolean | null
}
export type ReferenceRanges = { male?: ReferenceRange; female?: ReferenceRange }
export type CriticalLimits = { below: number | null; above: number | null }
export type SimulatedAs = { mean_male: number; mean_female: number; sd: number }

/** One measurement as the catalogue describes it. */
export type Analyte = {
  slug: string
  name: string
  loinc: string
  unit: string | null
  result_type: string
  reference_range: ReferenceRanges | null
  critical: CriticalLimits | null
  decimals: number | null
  sim: SimulatedAs | null
  expected_value: string | null
}

/** What an order asks the lab to measure. `analytes` may hold more than its markers expect: what a lab adds of its own accord. */
export type Ordered = { markers: OrderedMarker[]; analytes: Analyte[] }
export type OrderedMarker = { id: number; name: string; slug: string; provider_id: string | null; expected_results: string[] }
