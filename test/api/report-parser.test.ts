import { deflateSync } from 'node:zlib'
import { VitalClient } from '@tryvital/vital-node'
import { describe, expect, test } from 'vitest'
import type { ParsedReport } from '../../src/contract/labs/report-parser.ts'
import { resultReport } from '../../src/labs/documents/result-report.ts'
import { MAX_PENDING_JOBS, parseDueReports } from '../../src/labs/report-parser/actions.ts'
import { parseFiles } from '../../src/labs/report-parser/parse.ts'
import { parseFile } from '../../src/labs/report-parser/rules-parse.ts'
import type { FileReport } from '../../src/labs/report-parser/rules-values.ts'
import { addSpent, claimJob, findNextJob } from '../../src/labs/report-parser/store.ts'
import { HOUR, later, MINUTE } from '../../src/platform/time.ts'
import { aReport, aResult, high, manyResults } from '../support/documents.ts'
import { eventsOf } from '../support/events.ts'
import { placeOrder } from '../support/orders.ts'
import { people } from '../support/people.ts'
import { query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { errorOf, world } from '../support/world.ts'

const w = await world()

const fileOf = (content: string | Uint8Array, name = 'report.pdf') => new File([new Uint8Array(Buffer.from(content))], name)

/** Parses files and returns the job. */
async function parse(...file: File[]) {
  const { id } = await w.api.createParsingJob({ body: { file, user_id: await aUser(w.api) } })
  await parseDueReports(w.app)
  return w.api.getParsingJob({ params: { parsing_job_id: id } })
}

test('reads every value of a report that Assay drew', async () => {
  const order = await placeOrder(w.api)
  await w.api.simulateOrder({ params: { order_id: order.id }, query: {}, body: { interpretation: 'abnormal', seed: 'parser' } })
  const params = { order_id: order.id }
  const { results, metadata } = await w.api.getResults({ params })
  const { status, failure_reason, data } = await parse(fileOf(await w.api.getResultsPdf({ params })))
  expect([status, failure_reason]).toEqual(['completed', null])
  const read = data as ParsedReport
  expect(read.results.map(({ test_name, value, interpretation }) => [test_name, value, interpretation])).toEqual(
    results.map(({ name, result, interpretation }) => [name, result, interpretation]),
  )
  expect(read.results.filter(({ loinc_match_status }) => loinc_match_status !== 'auto_match')).toEqual([])
  for (const [i, result] of results.entries())
    expect(read.results[i]?.loinc_matches).toContainEqual(expect.objectContaining({ loinc_code: result.loinc }))
  expect(read.metadata).toMatchObject({
    ...{ patient_first_name: people[0].first_name, patient_last_name: people[0].last_name, dob: people[0].dob, gender: 'female' },
    ...{ lab_name: metadata.laboratory, specimen_number: metadata.specimen_number },
  })
})

test('reads results as JSON and as CSV, and reports the lines that it cannot read', async () => {
  const order = await placeOrder(w.api)
  await w.api.simulateOrder({ params: { order_id: order.id }, query: {}, body: { seed: 'parser' } })
  const results = await w.api.getResults({ params: { order_id: order.id } })
  const csv = 'Test,Result,Unit,Range,Flag\n"Vitamin D, 25-OH",12,ng/mL,30-100,L\nFerritin,,ng/mL,,\n'
  const { data } = await parse(fileOf(JSON.stringify(results), 'results.json'), fileOf(csv, 'more.csv'))
  expect(data?.results.map(({ value }) => value)).toEqual([...results.results.map(({ result }) => result), '12'])
  expect(data?.results.at(-1)).toMatchObject({
    ...{ test_name: 'Vitamin D, 25-OH', units: 'ng/mL', min_reference_range: 30, max_reference_range: 100 },
    ...{ interpretation: 'abnormal', is_below_min_range: true, confidence: 1 },
  })
  expect(data?.unread).toEqual([{ file: 2, page: null, text: 'Ferritin,,ng/mL,,', reason: 'not_a_result' }])
})

describe('HL7 files', () => {
  const header = 'MSH|^~\\&|LIS|HARBOR LAB|||20260301101500-0700||ORU^R01^ORU_R01|1|P|2.5.1'
  const patient = "PID|1||U7||O'Fernsby^Odile||19800504|F"
  const group = 'OBR|1|7K2M|F-204417|24331-1^Lipid Panel^LN|||20260301230000-0700|||||||||||||||20260302080000-0700|||F'
  const oru = (...segments: string[]) => [header, patient, group, ...segments, ''].join('\r')

  test('are read value by value, with a confidence for each, and what is not a result is reported', async () => {
    const { status, data } = await parse(
      fileOf(
        oru(
          'OBX|1|NM|2093-3^Cholesterol^LN||212|mg/dL|<200|H|||F',
          'NTE|1||Repeat in three months.',
          'OBX|2|SN|2085-9^HDL^LN||>^60|mg/dL|||||P',
          'OBX|3|NM|2571-8^Triglycerides^LN||90|mg/dL|0-150|H|||F',
          'OBX|4|NM|13457-7^LDL^LN|||mg/dL|||||X',
          'OBX|5|NM|2089-1^LDL direct^LN||130|mg/dL|||||W',
          'OBX|6|ED|PDF^Report||^application^pdf^Base64^JVBERi0=||||||F',
          'OBX|7|CE|600-7^Culture^LN||^No growth~^Final||||||F',
        ),
        'results.hl7',
      ),
    )
    expect(status).toBe('completed')
    const { results, unread, metadata } = data as ParsedReport
    expect(results.map(({ test_name, value, confidence }) => [test_name, value, confidence])).toEqual([
      ['Cholesterol', '212', 1],
      ['HDL', '>60', 0.7],
      ['Triglycerides', '90', 0.5],
      ['Culture', 'No growth; Final', 1],
    ])
    expect(results[0]).toMatchObject({
      ...{ units: 'mg/dL', max_reference_range: 200, interpretation: 'abnormal', is_above_max_range: true },
      ...{ source_panel_name: 'Lipid Panel', loinc_matches: [{ loinc_code: '2093-3' }] },
    })
    expect(unread.map(({ text, reason }) => [text, reason])).toEqual([
      ['Report', 'document'],
      ['Repeat in three months.', 'note'],
      ['LDL', 'no_result'],
      ['LDL direct 130', 'withdrawn'],
    ])
    expect(metadata).toEqual({
      ...{ patient_first_name: 'Odile', patient_last_name: "O'Fernsby", dob: '1980-05-04', gender: 'female', lab_name: 'HARBOR LAB' },
      ...{ date_collected: '2026-03-01', date_reported: '2026-03-02', specimen_number: 'F-204417' },
    })
  })

  const read = (content: string) => {
    const parsed = parseFile(Buffer.from(content))
    return 'failure' in parsed ? parsed.failure : parsed.report
  }
  const glucose = 'OBX|1|NM|2345-7^Glucose^LN||90|mg/dL|||||F'

  test('keep the results of another patient apart', () => {
    const stranger = [header, patient.replace('Odile', 'Wilhelmina'), group, glucose.replace('90', '300')].join('\r')
    expect(read(`\x0b${oru(glucose)}${stranger}\r\x1c\r`)).toMatchObject({
      results: [{ value: '90' }],
      unread: [{ text: 'Glucose 300', reason: 'another_patient' }],
    })
  })

  test('can be batches with broken and other messages, and must have results', () => {
    const acknowledgment = 'MSH|^~\\&|LIS|LAB|||20260301||ACK^R01|2|P|2.5.1\rMSA|AA|1\r'
    const broken = 'MSH|^^\\&|LIS\r'
    expect(read(`FHS|^~\\&\rBHS|^~\\&\r${broken}${acknowledgment}${oru(glucose)}BTS|3\rFTS|1\r`)).toMatchObject({
      results: [{ value: '90' }],
      unread: [{ text: broken }, { text: 'ACK^R01', reason: 'not_a_result' }],
    })
    for (const content of [broken, acknowledgment, `${oru(glucose)}BTS|7`]) expect(read(content)).toBe('invalid_input')
  })

  test('longer than 1,000 results are cut, and say so', () => {
    const many = oru(...Array.from({ length: 1005 }, () => glucose))
    const { results, unread } = read(`${many}${many}`) as FileReport
    expect(results).toHaveLength(1000)
    expect(unread).toMatchObject([{ text: '5 more rows' }, { text: '1 more messages' }])
  })
})

describe('teams that share the parser', () => {
  type Tenant = Awaited<ReturnType<typeof w.tenant>>
  const create = async ({ api }: Tenant) =>
    api.createParsingJob({ body: { file: [fileOf('test,result\nFerritin,48')], user_id: await aUser(api) } })
  const spentBy = ({ team_id }: Tenant) => query(w.url, 'select spent_ms from parsing_shares where team_id = $1', [team_id])
  const clear = () => query(w.url, 'delete from parsing_jobs where due_at is not null')

  /** The teams whose jobs are taken next, while none of them ends. */
  async function takeJobs(count: number) {
    const taken: string[] = []
    for (let i = 0; i < count; i++) {
      const found = (await findNextJob(w.app.db, w.app.wall())) as { team_id: string; id: string }
      await claimJob(w.app.db, found, w.app.wall(), later(w.app.wall(), MINUTE))
      taken.push(found.team_id)
    }
    return taken
  }

  test('get the next job by the CPU time that they have used, however many files one of them sends first', async () => {
    const [busy, other] = [await w.tenant(), await w.tenant()]
    for (let i = 0; i < 3; i++) await create(busy)
    for (let i = 0; i < 2; i++) await create(other)
    await addSpent(w.app.db, busy.team_id, w.app.wall(), 20_000)
    expect(await takeJobs(5)).toEqual([other, busy, other, busy, busy].map(({ team_id }) => team_id))
    expect(await findNextJob(w.app.db, w.app.wall())).toBeUndefined()
    await clear()
  })

  test('are not charged for time that they used long ago', async () => {
    const [early, late] = [await w.tenant(), await w.tenant()]
    await addSpent(w.app.db, early.team_id, later(w.app.wall(), -HOUR), 20_000)
    await addSpent(w.app.db, late.team_id, w.app.wall(), 1000)
    for (const tenant of [late, early]) await create(tenant)
    expect(await takeJobs(2)).toEqual([early.team_id, late.team_id])
    await clear()
  })

  test('pay for each job, also for one that failed', async () => {
    const tenant = await w.tenant()
    const user_id = await aUser(tenant.api)
    let before = 0
    for (const content of ['test,result\nFerritin,48', 'no table']) {
      await tenant.api.createParsingJob({ body: { file: [fileOf(content)], user_id } })
      await parseDueReports(w.app)
      const [row] = await spentBy(tenant)
      expect(row?.['spent_ms']).toBeGreaterThan(before)
      before = Number(row?.['spent_ms'])
    }
  })

  test('have at most 50 jobs that have not ended, also with requests at the same time', async () => {
    const [busy, other] = [await w.tenant(), await w.tenant()]
    await create(busy)
    await query(
      w.url,
      `insert into parsing_jobs (team_id, id, user_id, status, needs_human_review, due_at, created_at, updated_at)
       select team_id, gen_random_uuid(), user_id, status, false, due_at, created_at, updated_at
       from parsing_jobs cross join generate_series(3, $2::int) where team_id = $1`,
      [busy.team_id, MAX_PENDING_JOBS],
    )
    const attempts = await Promise.allSettled([create(busy), create(busy), create(busy)])
    expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    const refused = await errorOf(create(busy))
    expect(refused).toMatchObject({ status: 429, detail: { error_type: 'TOO_MANY_PARSING_JOBS' } })
    await create(other)
    await query(w.url, 'delete from parsing_jobs where team_id = $1 and id in (select id from parsing_jobs where team_id = $1 limit 1)', [
      busy.team_id,
    ])
    await create(busy)
    await clear()
  })
})

test('emits an event at the start and at the end, and deletes the files', async () => {
  const { api, team_id } = await w.tenant()
  const user_id = await aUser(api)
  const { id } = await api.createParsingJob({ body: { file: [fileOf('test,result\nFerritin,48')], user_id, needs_human_review: true } })
  await parseDueReports(w.app)
  const events = await eventsOf(w.app, team_id)
  expect(events.map(({ event_type, data }) => [event_type, data['id'], data['status'], data['needs_human_review']])).toEqual([
    ['lab_report.parsing_job.created', id, 'started', true],
    ['lab_report.parsing_job.updated', id, 'completed', true],
  ])
  expect(await query(w.url, 'select n from parsing_files where job_id = $1', [id])).toEqual([])
})

test('the public SDK uploads a report and reads the job', async () => {
  const client = new VitalClient({ apiKey: w.team_api_key, environment: w.base })
  const file = { data: Buffer.from('test,result\nFerritin,48'), filename: 'report.csv' }
  const job = await client.labReport.parserCreateJob(file, { userId: await aUser(w.api), needsHumanReview: true })
  await parseDueReports(w.app)
  const read = await client.labReport.parserGetJob(job.id)
  expect(read).toMatchObject({ status: 'completed', needsHumanReview: true, data: { results: [{ testName: 'Ferritin', value: '48' }] } })
})

test('rejects a form without a file, a text instead of a file, and an unknown user', async () => {
  const user_id = await aUser(w.api)
  expect(await errorOf(w.api.createParsingJob({ body: { file: [], user_id } }))).toMatchObject({
    status: 422,
    detail: [{ loc: ['body', 'file'] }],
  })
  expect(await errorOf(w.api.createParsingJob({ body: { file: ['text'] as never, user_id } }))).toMatchObject({ status: 422 })
  expect(await errorOf(w.api.createParsingJob({ body: { file: [fileOf('a')], user_id: w.team_id } }))).toMatchObject({ status: 404 })
  expect(await errorOf(w.api.getParsingJob({ params: { parsing_job_id: user_id } }))).toMatchObject({
    status: 404,
    detail: { error_type: 'PARSING_JOB_NOT_FOUND' },
  })
  const form = new FormData()
  form.append('client_user_id', 'patient-1')
  const headers = { 'x-service-api-key': w.team_api_key }
  expect((await fetch(`${w.base}/v2/user`, { method: 'POST', headers, body: form })).status).toBe(415)
  const broken = { ...headers, 'content-type': 'multipart/form-data; boundary=x' }
  expect((await fetch(`${w.base}/lab_report/v1/parser/job`, { method: 'POST', headers: broken, body: '--y' })).status).toBe(422)
})

test('refuses a form with more parts or longer headers than a report has, before it parses them', async () => {
  const headers = { 'x-service-api-key': w.team_api_key, 'content-type': 'multipart/form-data; boundary="x y"' }
  const send = async (body: string) => {
    const response = await fetch(`${w.base}/lab_report/v1/parser/job`, { method: 'POST', headers, body })
    return [response.status, ((await response.json()) as { detail: { msg: string }[] }).detail[0]?.msg]
  }
  const part = '--x y\r\nContent-Disposition: form-data; name="file"\r\n\r\na\r\n'
  expect(await send(`${part.repeat(101)}--x y--\r\n`)).toEqual([422, 'The form has more than 100 parts. Send fewer.'])
  expect(await send(part.replace('\r\n\r\n', `\r\n${'A: b\r\n'.repeat(2000)}\r\n`))).toEqual([
    422,
    expect.stringContaining('not a valid form'),
  ])
})

describe('layout', () => {
  const read = async (change: Parameters<typeof aReport>[0]) => {
    const parsed = parseFile(await resultReport(aReport(change)))
    if ('failure' in parsed) throw new Error(parsed.failure)
    return parsed.report
  }
  const section = (...results: ReturnType<typeof aResult>[]) => ({ sections: [{ results, missing: [] }] })

  test('reads 60 results over several pages, each once', async () => {
    const { results, unread } = await read({ sections: [{ results: manyResults(60), missing: [] }] })
    expect(results.map(({ test_name }) => test_name)).toEqual(manyResults(60).map(({ name }) => name))
    expect(unread).toEqual([])
  })

  test('is less sure of texts, broken values and flags that contradict the range', async () => {
    const comment = 'A few epithelial cells are present, most likely from the skin; repeat if symptoms persist.'
    const { results, unread } = await read(
      section(
        aResult({ name: 'Ferritin', result: '84' }),
        aResult({ name: 'Microscopy', type: 'comment', result: comment, notes: 'Called at 08:55.' }),
        aResult({ name: 'Zinc', result: '400', ...high, interpretation: 'critical' }),
        aResult({ name: 'Copper', result: '999', is_above_max_range: false, interpretation: 'normal' }),
      ),
    )
    expect(results.map(({ test_name, value, confidence }) => [test_name, value, confidence])).toEqual([
      ['Ferritin', '84', 1],
      ['Microscopy', comment, 0.7],
      ['Zinc', '400', 1],
      ['Copper', '999', 0.5],
    ])
    expect(results[2]).toMatchObject({ interpretation: 'critical', is_above_max_range: true })
    expect(unread).toEqual([{ page: 1, text: 'Called at 08:55.', reason: 'note' }])
  })

  test('reports tests without results', async () => {
    const missing = [{ name: 'Homocysteine', slug: 'homocysteine', inferred_failure_type: 'insufficient_volume', note: null }]
    const { unread } = await read({ sections: [{ results: [aResult()], missing }] })
    expect(unread).toEqual([{ page: 1, text: expect.stringContaining('Homocysteine'), reason: 'no_result' }])
  })
})

describe('files that cannot be read', () => {
  const pdf = (...objects: string[]) =>
    `%PDF-1.4\n${objects.map((object, i) => `${i + 1} 0 obj\n${object}\nendobj\n`).join('')}trailer << /Root 1 0 R >>`
  const onePage = (page: string, ...more: string[]) =>
    pdf('<< /Pages 2 0 R >>', '<< /Kids [3 0 R] /Count 1 >>', `<< /Type /Page ${page} >>`, ...more)

  test.each<[string, string | Buffer, string]>([
    ['a JPEG', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2]), 'low_quality'],
    ['a PNG', Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10]), 'low_quality'],
    ['a scanned page', onePage('/Resources << /XObject << /Im0 4 0 R >> >>'), 'low_quality'],
    [
      'a page of another layout',
      onePage('/Contents 4 0 R', '<< /Length 30 >>\nstream\nBT 10 10 Tm (Glucose 5) Tj ET  \nendstream'),
      'invalid_input',
    ],
    ['an encrypted file', '%PDF-1.4\n1 0 obj\n<< /Pages 2 0 R >>\nendobj\ntrailer << /Root 1 0 R /Encrypt 5 0 R >>', 'invalid_input'],
    ['no table', 'just some text', 'invalid_input'],
    ['broken JSON', '{"results": [', 'invalid_input'],
  ])('%s fails', (_, content, failure) => {
    expect(parseFile(Buffer.from(content))).toEqual({ failure })
  })

  test('more than 50 pages fail', () => {
    const pages = Array.from({ length: 60 }, () => '<< /Type /Page >>')
    const kids = pages.map((_, i) => `${i + 3} 0 R`).join(' ')
    expect(parseFile(Buffer.from(pdf('<< /Pages 2 0 R >>', `<< /Kids [${kids}] >>`, ...pages)))).toEqual({ failure: 'too_many_pages' })
  })

  test('hostile files end with a failure', async () => {
    const hostile = [
      pdf('<< /Pages 2 0 R >>', '<< /Kids [2 0 R 2 0 R] >>'),
      pdf('['.repeat(200_000)),
      pdf('<</a '.repeat(100_000)),
      `%PDF-1.4\n${'1 0 obj '.repeat(1_000_000)}`,
      pdf('('.repeat(500_000)),
      bomb(deflateSync(Buffer.alloc(64 * 1024 * 1024))),
    ]
    for (const content of hostile) expect(parseFile(Buffer.from(content))).toEqual({ failure: expect.any(String) })
    const { parsed } = await parseFiles(
      hostile.map((content) => Buffer.from(content)),
      [],
    )
    expect(parsed).toEqual({ failure: expect.any(String) })
  })

  test('a report of more than a megabyte fails', async () => {
    const csv = `test,result\n${Array.from({ length: 900 }, () => `${'Ferritin '.repeat(200)},48`).join('\n')}`
    expect(await parse(fileOf(csv, 'long.csv'))).toMatchObject({ status: 'failed', failure_reason: 'invalid_input', data: null })
  })

  const bomb = (stream: Buffer) =>
    Buffer.concat([
      Buffer.from(onePage('/Contents 4 0 R').replace(/trailer.*/, '')),
      Buffer.from(`4 0 obj\n<< /Filter /FlateDecode /Length ${stream.length} >>\nstream\n`),
      stream,
      Buffer.from('\nendstream\nendobj\ntrailer << /Root 1 0 R >>'),
    ])
})
