import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { auditRows } from '../support/audit.ts'
import { query } from '../support/query.ts'
import { newDatabase, replica, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

const production = { ENVIRONMENT: 'production', REGION: 'eu' }
const builtIn = new URL('../../catalog/catalog.json', import.meta.url)

type File = {
  labs: { id: number; slug: string; name: string }[]
  lab_tests: { id: string; name: string; status: string; marker_ids: number[] }[]
  lab_markers: { id: number; marker_slug: string }[]
  [list: string]: unknown[]
}

/** Writes a changed copy of the built-in file. */
function fileWith(change: (file: File) => void) {
  const file = JSON.parse(readFileSync(builtIn, 'utf8'))
  change(file)
  const path = join(temporaryFolder(), 'catalog.json')
  writeFileSync(path, JSON.stringify(file))
  return path
}

/** A production deployment without a catalog. */
async function withoutCatalog() {
  const database = await newDatabase()
  const cli = assay(database, production)
  const { team_api_key } = await cli.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
  const { base } = await replica({ database, env: production })
  const load = (path: string) => cli.json('catalog', 'load', '--file', path)
  return { cli, database, load, api: createClient(base, { 'x-service-api-key': team_api_key }) }
}

/** A production deployment with the built-in catalog. */
async function withCatalog() {
  const world = await withoutCatalog()
  return { ...world, ...((await world.load(builtIn.pathname)) as { version: string }) }
}

test('production starts without a catalog and shows the loaded one', async () => {
  const { cli, load, api } = await withoutCatalog()
  expect((await cli.run('catalog', 'show')).out).toMatch(/^No catalog is loaded; load one with: assay catalog load/)
  expect(await cli.json('catalog', 'show')).toBeNull()
  const { version, loaded } = await load(builtIn.pathname)
  expect(loaded).toMatchObject({ labs: 5, analytes: 98, service_centers: 6, phlebotomy_areas: 4, payors: 5, icd_codes: 25 })
  expect(await api.listLabs()).toHaveLength(5)
  const shown = await cli.json('catalog', 'show')
  expect(shown).toMatchObject({ version, analytes: 98, payors: 5, icd_codes: 25, service_centers: 6 })
  expect(shown.labs[0]).toMatchObject({ id: 1, slug: 'quillmoor' })
  expect((await cli.run('catalog', 'show')).out).toMatch(/ 1 {2}quillmoor +\d+ of \d+ markers orderable, \d+ of \d+ lab tests active/)
})

test('load prints the number of rows, and says that nothing changed the second time', async () => {
  const { cli } = await withoutCatalog()
  const load = async () => (await cli.run('catalog', 'load', '--file', builtIn.pathname)).out
  const file = JSON.parse(readFileSync(builtIn, 'utf8')) as File
  const [markers, tests] = [file.lab_markers.length, file.lab_tests.length]
  expect(await load()).toMatch(
    new RegExp(
      `^loaded [0-9a-f]{12}: 5 labs, 98 analytes, ${markers} markers, ${tests} lab tests, 6 service centers, 4 phlebotomy areas, 5 payors, 25 diagnosis codes\n0 lab tests archived, 0 markers no longer orderable\n$`,
    ),
  )
  expect(await load()).toMatch(/^[0-9a-f]{12} is already loaded; nothing changed\n$/)
})

test('load is audited, and loading again changes nothing', async () => {
  const { cli, database, version } = await withCatalog()
  const before = await cli.json('catalog', 'show')
  await cli.json('catalog', 'load', '--file', builtIn.pathname)
  expect(await cli.json('catalog', 'show')).toEqual(before)
  const rows = await query(database, `select subject from ${auditRows} where action = 'operator load catalog'`)
  expect(rows).toEqual(Array(2).fill({ subject: `catalog:${version}` }))
})

test('a file without a test or marker retires it, and a file with it restores it', async () => {
  const { load, api } = await withCatalog()
  const [gone] = (await api.listLabTests({ query: { name: 'Essential' } })).data
  const without = fileWith((file) => {
    file.labs = file.labs.map((lab) => (lab.id === 2 ? { ...lab, name: 'Wrenfield & Daughters' } : lab))
    file.lab_tests = file.lab_tests.filter(({ id, marker_ids }) => id !== gone?.id && !marker_ids.includes(1012))
    file.lab_markers = file.lab_markers.filter(({ id }) => id !== 1012)
  })
  expect(await load(without)).toMatchObject({ archived_tests: 3, retired_markers: 1 })
  const params = { lab_test_id: gone?.id as string }
  expect(await api.getLabTest({ params })).toMatchObject({ status: 'inactive', is_active: false, name: 'Essential Wellness' })
  const marker = async () => (await api.listMarkers({ query: { lab_id: [1], size: 100 } })).markers.find(({ id }) => id === 1012)
  expect(await marker()).toMatchObject({ is_orderable: false })
  expect((await api.listLabs())[1]).toMatchObject({ name: 'Wrenfield & Daughters' })

  expect(await load(builtIn.pathname)).toMatchObject({ archived_tests: 0, retired_markers: 0 })
  expect(await api.getLabTest({ params })).toMatchObject({ status: 'active' })
  expect(await marker()).toMatchObject({ is_orderable: true })
})

test('a lab removed from the file stays with nothing to order', async () => {
  const { cli, load, api } = await withCatalog()
  await load(
    fileWith((file) => {
      for (const list of ['lab_markers', 'lab_tests'])
        file[list] = (file[list] as { lab_id: number }[]).filter(({ lab_id }) => lab_id === 1)
      file.labs = file.labs.slice(0, 1)
      file['patient_service_centers'] = []
      file['payors'] = []
      file['icd10_starter'] = []
    }),
  )
  const [first, ...others] = (await cli.json('catalog', 'show')).labs
  expect([first.orderable, first.active].every((count) => count > 0)).toBe(true)
  expect(others).toMatchObject(['wrenfield', 'larkstone', 'mossgate', 'aldermere'].map((slug) => ({ slug, orderable: 0, active: 0 })))
  expect(await api.listLabs()).toHaveLength(5)
  expect(await cli.json('catalog', 'show')).toMatchObject({ service_centers: 0 })
})

test('a pending lab test is approved by the file, and an approval by the operator persists', async () => {
  const { cli, load, api } = await withCatalog()
  const [waiting] = (await api.listLabTests({ query: { status: 'pending_approval' } })).data
  await cli.json('lab-tests', 'approve', '--id', waiting?.id as string)
  await load(fileWith((file) => file.labs.reverse()))
  expect(await api.getLabTest({ params: { lab_test_id: waiting?.id as string } })).toMatchObject({ status: 'active' })
  const other = await withCatalog()
  await other.load(
    fileWith((file) => {
      file.lab_tests = file.lab_tests.map((test) => (test.id === waiting?.id ? { ...test, status: 'active' } : test))
    }),
  )
  expect(await other.api.getLabTest({ params: { lab_test_id: waiting?.id as string } })).toMatchObject({ status: 'active' })
})

test('a lab test of a team is neither archived nor replaced', async () => {
  const { load, api, cli } = await withCatalog()
  const own = await api.createLabTest({ body: { name: 'Ours', description: '', method: 'walk_in_test', marker_ids: [1001] } })
  const copied = fileWith((file) => {
    file.lab_tests = file.lab_tests.map((test, i) => (i === 0 ? { ...test, id: own.id } : test))
  })
  const { code, err } = await cli.run('catalog', 'load', '--file', copied)
  expect([code, err]).toEqual([1, `The catalog uses the ID of a team's own lab test; choose another ID instead of ${own.id}\n`])
  await load(fileWith((file) => file.labs.reverse()))
  expect(await api.getLabTest({ params: { lab_test_id: own.id } })).toEqual(own)
})

test('loads more rows than fit in one statement', async () => {
  const { cli, load } = await withoutCatalog()
  const codes = Array.from({ length: 40_000 }, (_, i) => ({ code: `Z${i}`, label: `Code ${i}` }))
  await load(
    fileWith((file) => {
      file['icd10_starter'] = codes
    }),
  )
  expect(await cli.json('catalog', 'show')).toMatchObject({ icd_codes: 40_000 })
})

test('rejects an invalid file with the paths of its errors and changes nothing', async () => {
  const { cli } = await withCatalog()
  const before = await cli.json('catalog', 'show')
  const wrong = fileWith((file) => {
    file.lab_markers = file.lab_markers.map((marker) => ({ ...marker, marker_slug: 'moon' })).slice(0, 1)
  })
  const renumbered = fileWith((file) => {
    const [marker, ...others] = file.lab_markers
    file.lab_markers = [{ ...marker, id: 999 }, { ...marker, provider_id: 'NEW' }, ...others] as File['lab_markers']
  })
  for (const [path, reason] of [
    [wrong, /^The catalog file is not valid:\n {2}lab_markers\[0\]\.marker_slug: Must name an entry in markers\.\n/],
    [renumbered, /^The catalog changes the ID, slug or LOINC code of a row in markers that is already loaded/],
    ['/nowhere/catalog.json', /^The file does not exist\. Check the path\.\n$/],
  ] as const) {
    const { code, out, err } = await cli.run('catalog', 'load', '--file', path)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(reason)
  }
  expect(await cli.json('catalog', 'show')).toEqual(before)
})

test('a sandbox rejects another catalog', async () => {
  const sandbox = assay(await newDatabase())
  await sandbox.json('bootstrap', '--org', 'Reef', '--team', 'Reef one')
  expect(await sandbox.run('catalog', 'load', '--file', builtIn.pathname)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('A sandbox loads the built-in catalog'),
  })
})
