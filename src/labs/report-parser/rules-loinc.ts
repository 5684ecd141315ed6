import type { ParsedResult } from '../../contract/labs/report-parser.ts'

export type Analyte = { name: string; loinc: string }

/** Spelling differs between labs: punctuation, case and spaces do not count. */
const normalize = (name: string) =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')

const SAME_NAME = 0.95
const PART_OF_NAME = 0.6

/** Adds the LOINC codes of the catalog to results that state none. The same name is a match, and a part of it needs a review. */
export function matchLoincs(results: ParsedResult[], analytes: Analyte[]): ParsedResult[] {
  const named = analytes.map(({ name, loinc }) => ({ name, loinc, key: normalize(name) }))
  return results.map((result) => {
    if (result.loinc_match_status) return result
    const key = normalize(result.test_name)
    const same = named.filter((analyte) => analyte.key === key)
    if (same.length) return { ...result, loinc_match_status: 'auto_match', loinc_matches: same.map((one) => matchOf(one, SAME_NAME)) }
    const similar = key.length < 4 ? [] : named.filter((analyte) => analyte.key.startsWith(key) || key.startsWith(analyte.key)).slice(0, 5)
    return similar.length
      ? { ...result, loinc_match_status: 'needs_review', loinc_matches: similar.map((one) => matchOf(one, PART_OF_NAME)) }
      : { ...result, loinc_match_status: 'no_match', loinc_matches: [] }
  })
}

const matchOf = ({ name, loinc }: Analyte, confidence_score: number) => ({
  ...{ loinc_code: loinc, loinc_name: name, display_name: name },
  aliases: [],
  confidence_score,
})
