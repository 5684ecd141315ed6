import { loadavg } from 'node:os'
import { query } from '../test/support/databases.ts'
import { machineLines } from './machine.ts'
import { ms, percentile } from './numbers.ts'
import { openSite } from './site.ts'

type Options = { markers: number; times: number }
type Test = { name: string; code: string; loinc: string }

const substances = [
  ...['Glucose', 'Insulin', 'Ferritin', 'Albumin', 'Creatinine', 'Cortisol', 'Testosterone', 'Estradiol', 'Progesterone', 'Prolactin'],
  ...['Thyroxine', 'Triiodothyronine', 'Cholesterol', 'Triglyceride', 'Apolipoprotein', 'Homocysteine', 'Folate', 'Cobalamin', 'Zinc'],
  ...['Copper', 'Magnesium', 'Potassium', 'Sodium', 'Calcium', 'Phosphate', 'Bilirubin', 'Aldosterone', 'Renin', 'Troponin', 'Lipase'],
  ...['Amylase', 'Ceruloplasmin', 'Haptoglobin', 'Transferrin', 'Immunoglobulin', 'Complement', 'Rheumatoid factor', 'Thyroglobulin'],
]
const kinds = [
  'antibody',
  'antigen',
  'free',
  'total',
  'bound',
  'ionized',
  'ratio',
  'clearance',
  'fraction',
  'receptor',
  'index',
  'isoenzyme',
]
const specimens = ['serum', 'plasma', 'urine', 'saliva', 'whole blood', 'dried blood spot', '24-hour urine', 'cord blood', 'synovial fluid']

/** Tests with different names of the kind that labs use. */
const testsOf = (count: number): Test[] =>
  Array.from({ length: count }, (_, i) => ({
    name: `${substances[i % substances.length]} ${kinds[(i * 5) % kinds.length]} ${specimens[(i * 7) % specimens.length]} ${(i * 7919).toString(36)}`,
    code: `BENCH${i}`,
    loinc: `${100_000 + i}-${i % 10}`,
  }))

/** Measures the search of tests in a large catalog, over HTTP, one at a time. Two labs sell each test. */
export async function benchCompendium({ markers, times }: Options) {
  const site = await openSite(8)
  try {
    await site.create('compendium')
    const running = await site.serve('compendium', { PROCESSES: '1' })
    const tests = testsOf(markers / 2)
    await insertTests(running.database, tests)
    for (const line of await machineLines(running.database)) console.log(line)
    console.log(`p50 and p95 of ${times} searches in a catalog of ${markers.toLocaleString('en')} more markers, one at a time`)
    for (const [name, bodyOf] of Object.entries(searches)) {
      const requests = Array.from({ length: times }, (_, i) => ({
        method: 'POST',
        path: '/v3/compendium/search',
        body: JSON.stringify(bodyOf(tests[(i * 7907) % tests.length] as Test)),
      }))
      // The first search builds the index.
      await running.load({ connections: 1, times: 100, requests })
      const { latencies, failed } = await running.load({ connections: 1, times, requests })
      if (Object.keys(failed).length) throw new Error(`searches failed: ${JSON.stringify(failed)}`)
      console.log(`  ${name}: p50 ${ms(percentile(latencies, 50))}, p95 ${ms(percentile(latencies, 95))}`)
    }
    console.log(`load ${loadavg()[0]?.toFixed(1)}`)
  } finally {
    await site.close()
  }
}

/** Exchanges two letters in the middle. */
const withTypo = (text: string) => text.replace(/^(.{3})(.)(.)/, '$1$3$2')

const canonical = (query: string) => ({ mode: 'canonical', query })
const searches: Record<string, (test: Test) => object> = {
  name: ({ name }) => canonical(name),
  code: ({ code }) => canonical(`${code}-1`),
  LOINC: ({ loinc }) => canonical(loinc),
  prefix: ({ name }) => canonical(name.slice(0, 5)),
  word: ({ name }) => canonical(name.split(' ').at(-2) as string),
  typo: ({ name }) => canonical(withTypo(name)),
  'crosswalk by name': ({ name }) => ({ mode: 'crosswalk', query: name }),
}

async function insertTests(url: string, tests: Test[]) {
  const rows = tests.map((test, i) => ({ ...test, id: 1_000_000 + i, slug: `bench-${i}` }))
  const json = JSON.stringify(rows)
  await query(
    url,
    `insert into analytes (slug, id, name, loinc, result_type)
     select slug, id, name, loinc, 'numeric' from json_to_recordset($1) as t (slug text, id int, name text, loinc text)`,
    [json],
  )
  await query(
    url,
    `insert into markers (id, lab_id, provider_id, slug, name, type, price, fasting, sample_types, a_la_carte_enabled, is_orderable, expected_results)
     select id + lab * 1000000, lab, code || '-' || lab, slug, case lab when 1 then name else name || ' level' end, 'biomarker', '10.00', false,
       '{serum}', true, true, array[slug]
     from json_to_recordset($1) as t (slug text, id int, name text, code text), generate_series(1, 2) as lab`,
    [json],
  )
}
