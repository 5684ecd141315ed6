import { gzipSync } from 'node:zlib'
import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../src/contract/client.ts'
import { LARGE_BODY } from '../../src/http/routes.ts'
import { auditRows } from '../support/audit.ts'
import { asTest, query } from '../support/query.ts'
import { aUser } from '../support/users.ts'
import { aSample, push, userEvents } from '../support/wearables.ts'
import { errorOf, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const read = (user_id: string, resource: string, query: object = {}) =>
  w.api.listSamples({ params: { user_id, resource }, query: { start_date: '2026-03-01', end_date: '2026-03-02', ...query } })

/** A push of past samples, which emits one event without the samples. */
const historical = { stage: 'historical', start_date: '2026-02-01T00:00:00Z', end_date: '2026-03-10T00:00:00Z' }

const tally = { success: true, received: 0, created: 0, updated: 0, unchanged: 0, stale: 0, dropped: 0 }
const at = (minute: number, day = '2026-03-01') => `${day}T09:${String(minute).padStart(2, '0')}:00.000Z`

describe('pushed samples', () => {
  test('are returned by source and type, with one event for each', async () => {
    const user_id = await aUser(w.api)
    const data = [
      aSample('2026-03-01T09:00:00-08:00', 61, { unit: 'bpm', type: 'watch', source_bundle: 'com.example.pulse' }),
      aSample('2026-03-01T17:01:00Z', 63, { unit: 'bpm', type: 'watch', source_bundle: 'com.example.pulse' }),
      aSample('2026-03-01T17:01:00Z', 70, { unit: 'count/min', type: 'phone' }),
    ]
    expect(await push(w.api, user_id, 'heartrate', data)).toEqual({ ...tally, received: 3, created: 3 })
    const source = {
      provider: 'apple_health_kit',
      slug: 'apple_health_kit',
      name: 'Apple HealthKit',
      logo: expect.stringMatching(/\/assets\/sources\/apple_health_kit\.svg$/),
      device_id: null,
    }
    const unit = 'bpm'
    const watch = {
      source: { ...source, type: 'watch', app_id: 'com.example.pulse' },
      data: [
        { timestamp: '2026-03-01T17:00:00.000Z', timezone_offset: -28_800, type: 'watch', unit, value: 61 },
        { timestamp: '2026-03-01T17:01:00.000Z', timezone_offset: null, type: 'watch', unit, value: 63 },
      ],
    }
    const phone = {
      source: { ...source, type: 'phone', app_id: null },
      data: [{ timestamp: '2026-03-01T17:01:00.000Z', timezone_offset: null, type: 'phone', unit, value: 70 }],
    }
    expect(await read(user_id, 'heartrate')).toEqual({ groups: { apple_health_kit: [phone, watch] }, next: null, next_cursor: null })
    const [connected, ...events] = await userEvents(w.app, w.team_id, user_id)
    expect(connected?.event_type).toBe('provider.connection.created')
    const common = { user_id, source_id: 1, chunk_index: 0, total_chunks: 1 }
    expect(events).toEqual([
      { event_type: 'daily.data.heartrate.created', data: { ...common, ...phone } },
      { event_type: 'daily.data.heartrate.created', data: { ...common, ...watch } },
    ])
  })

  test('are split into several events that together contain all of them', async () => {
    const user_id = await aUser(w.api)
    const many = Array.from({ length: 6000 }, (_, i) =>
      aSample(new Date(Date.parse('2026-03-01T00:00:00Z') + i * 1000).toISOString(), 60 + (i % 9)),
    )
    await push(w.api, user_id, 'heartrate', many)
    const events = (await userEvents(w.app, w.team_id, user_id)).slice(1)
    expect(events.map(({ data }) => [data['chunk_index'], data['total_chunks']])).toEqual(events.map((_, i) => [i, events.length]))
    expect(events.every(({ data }) => data.data.length <= 2500 && JSON.stringify(data).length <= 256 * 1024)).toBe(true)
    expect(events.flatMap(({ data }) => data.data.map(({ timestamp }) => timestamp))).toEqual(many.map(({ start_date }) => start_date))
  })

  test('may be compressed with gzip', async () => {
    const user_id = await aUser(w.api)
    const { status, body } = await raw(
      user_id,
      'steps',
      gzipSync(JSON.stringify({ provider: 'manual', data: [aSample(at(0), 20)] })),
      'gzip',
    )
    expect({ status, ...body }).toEqual({ status: 200, ...tally, received: 1, created: 1 })
  })
})

const values = async (user_id: string, resource: string, query: object = {}) => {
  const { groups } = await read(user_id, resource, query)
  return Object.values(groups).flatMap((group) => group.flatMap(({ data }) => data.map(({ value }) => value)))
}

test('every endpoint accepts gzip up to its body size limit', async () => {
  const create = async (body: Buffer) => {
    const headers = { 'x-service-api-key': w.team_api_key, 'content-type': 'application/json', 'content-encoding': 'gzip' }
    return (await fetch(`${w.base}/v2/user`, { method: 'POST', headers, body: body as never })).status
  }
  expect(await create(gzipSync('{"client_user_id":"zipped"}'))).toBe(200)
  expect(await create(gzipSync(Buffer.alloc(2 * 1024 * 1024, 32)))).toBe(413)
})

describe('versions', () => {
  test('counts new, changed, unchanged and stale samples, and emits only changes', async () => {
    const user_id = await aUser(w.api)
    const [older, newer] = ['2026-03-01T10:00:00Z', '2026-03-01T11:00:00Z']
    const first = [aSample(at(0), 20, { end_date: at(1) }), aSample(at(1), 30, { end_date: at(2) })]
    expect(await push(w.api, user_id, 'steps', first, { modified_at: older })).toMatchObject({ created: 2 })
    expect(await push(w.api, user_id, 'steps', first, { modified_at: older })).toMatchObject({ created: 0, unchanged: 2 })
    const second = [aSample(at(0), 25, { end_date: at(1) }), aSample(at(5), 1, { end_date: at(6) })]
    expect(await push(w.api, user_id, 'steps', second, { modified_at: newer })).toMatchObject({ created: 1, updated: 1 })
    expect(await push(w.api, user_id, 'steps', first, { modified_at: older })).toMatchObject({ stale: 1, unchanged: 1, updated: 0 })
    expect(await values(user_id, 'steps')).toEqual([25, 30, 1])
    const events = (await userEvents(w.app, w.team_id, user_id)).slice(1)
    expect(events.map(({ event_type, data }) => [event_type, data.data.map(({ value }) => value)])).toEqual([
      ['daily.data.steps.created', [20, 30]],
      ['daily.data.steps.created', [1]],
      ['daily.data.steps.updated', [25]],
    ])
  })

  test('keeps the last sample received when modified_at is missing', async () => {
    const user_id = await aUser(w.api)
    await push(w.api, user_id, 'steps', [aSample(at(0), 12, { end_date: at(1) })])
    expect(await push(w.api, user_id, 'steps', [aSample(at(0), 480, { end_date: at(59) })])).toMatchObject({ updated: 1 })
    const { groups } = await read(user_id, 'steps')
    expect(groups['apple_health_kit']?.[0]?.data).toMatchObject([{ start: at(0), end: at(59), timestamp: at(0), value: 480 }])
  })

  test('keeps the last of several samples with the same key in one batch', async () => {
    const user_id = await aUser(w.api)
    expect(await push(w.api, user_id, 'heartrate', [aSample(at(0), 1), aSample(at(0), 2), aSample(at(0), 3)])).toMatchObject({ created: 1 })
    expect(await values(user_id, 'heartrate')).toEqual([3])
  })

  test('stores concurrent batches that start the same day', async () => {
    const user_id = await aUser(w.api)
    const batches = Array.from({ length: 6 }, (_, i) => [aSample(at(i), i), aSample(at(i + 10), i)])
    await Promise.all(batches.map((batch) => push(w.api, user_id, 'heartrate', batch)))
    expect(await values(user_id, 'heartrate')).toEqual([0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5])
    const events = (await userEvents(w.app, w.team_id, user_id)).filter(({ event_type }) => event_type.startsWith('daily'))
    expect(events.flatMap(({ data }) => data.data)).toHaveLength(12)
  })

  test('stores concurrent batches of an existing day and emits each sample once', async () => {
    const user_id = await aUser(w.api)
    await push(w.api, user_id, 'heartrate', [aSample(at(0), 60)])
    const batches = Array.from({ length: 16 }, (_, i) => [aSample(at(i + 1), 61 + i)])
    const responses = await Promise.all(batches.map((batch) => push(w.api, user_id, 'heartrate', batch)))
    expect(responses).toEqual(batches.map(() => ({ ...tally, received: 1, created: 1 })))
    const { groups } = await read(user_id, 'heartrate')
    expect(Object.values(groups).flatMap((group) => group.flatMap(({ data }) => data.map(({ value }) => value)))).toEqual(
      Array.from({ length: 17 }, (_, i) => 60 + i),
    )
    const events = (await userEvents(w.app, w.team_id, user_id)).filter(({ event_type }) => event_type === 'daily.data.heartrate.created')
    expect(events.flatMap(({ data }) => data.data.map(({ value }) => value as number)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 17 }, (_, i) => 60 + i),
    )
    const audited = await query(
      w.url,
      `select count(*)::integer from ${auditRows} where action = 'pushSamples' and subject = 'user_id:${user_id}'`,
    )
    expect(audited).toEqual([{ count: 17 }])
  })
})

describe('time zones', () => {
  test('uses the offset of the sample, then the zone of the push, then that of the user', async () => {
    const user_id = await aUser(w.api, { fallback_time_zone: 'America/New_York' })
    const offsets = async (change: object) => {
      await push(w.api, user_id, 'heartrate', [aSample('2026-01-05T12:00:00Z', 1), aSample('2026-07-05T12:00:00Z', 1)], change)
      const { groups } = await read(user_id, 'heartrate', { start_date: '2026-01-01', end_date: '2026-12-31' })
      return groups['apple_health_kit']?.flatMap(({ data }) => data.map(({ timezone_offset }) => timezone_offset))
    }
    expect(await offsets({})).toEqual([-18_000, -14_400])
    expect(await offsets({ time_zone: 'Europe/Berlin' })).toEqual([3600, 7200])
    await push(w.api, user_id, 'heartrate', [aSample('2026-01-05T17:30:00+05:30', 2)], { time_zone: 'Europe/Berlin' })
    expect(await offsets({ modified_at: '2020-01-01T00:00:00Z' })).toEqual([19_800, 7200])
  })

  test('rejects an unknown time zone', async () => {
    const user_id = await aUser(w.api)
    const { status, detail } = await errorOf(push(w.api, user_id, 'heartrate', [aSample(at(0), 1)], { time_zone: 'Mars/Olympus' }))
    expect([status, detail]).toEqual([422, [expect.objectContaining({ loc: ['body', 'time_zone'] })]])
  })
})

test('drops and counts samples outside the ingestion bounds of the user', async () => {
  const user_id = await aUser(w.api, { ingestion_start: '2026-03-01', ingestion_end: '2026-03-02' })
  const days = ['2026-02-28T23:59:59Z', '2026-03-01T00:00:00Z', '2026-03-02T23:59:59Z', '2026-03-03T00:00:00Z']
  const response = await push(
    w.api,
    user_id,
    'heartrate',
    days.map((day, i) => aSample(day, i)),
  )
  expect(response).toEqual({ ...tally, received: 4, created: 2, dropped: 2 })
  expect(await values(user_id, 'heartrate', { start_date: '2026-02-01', end_date: '2026-04-01' })).toEqual([1, 2])
})

describe('historical samples', () => {
  test('emit one event without samples, and another only for new data', async () => {
    const user_id = await aUser(w.api)
    const window = { stage: 'historical', start_date: '2026-02-01T00:00:00Z', end_date: '2026-03-01T00:00:00Z' }
    const past = [aSample('2026-02-03T08:00:00Z', 5.5), aSample('2026-02-04T08:00:00Z', 5.6)]
    for (const data of [past, past, [...past, aSample('2026-02-05T08:00:00Z', 5.7)]]) await push(w.api, user_id, 'glucose', data, window)
    await push(w.api, user_id, 'water', [], window)
    const event = (resource: string) => ({
      event_type: `historical.data.${resource}.created`,
      data: {
        user_id,
        provider: 'apple_health_kit',
        start_date: '2026-02-01T00:00:00.000Z',
        end_date: '2026-03-01T00:00:00.000Z',
        is_final: true,
      },
    })
    expect((await userEvents(w.app, w.team_id, user_id)).slice(1)).toEqual([event('glucose'), event('glucose'), event('water')])
    expect(await values(user_id, 'glucose', { start_date: '2026-02-01' })).toEqual([5.5, 5.6, 5.7])
  })
})

describe('reading', () => {
  test('treats a date as a whole day and a timestamp as an instant', async () => {
    const user_id = await aUser(w.api)
    await push(
      w.api,
      user_id,
      'heartrate',
      ['2026-03-01T00:00:00Z', '2026-03-01T12:00:00Z', '2026-03-01T23:59:59.999Z', '2026-03-02T00:00:00Z'].map((moment, i) =>
        aSample(moment, i),
      ),
    )
    expect(await values(user_id, 'heartrate', { end_date: '2026-03-01' })).toEqual([0, 1, 2])
    expect(await values(user_id, 'heartrate', { start_date: '2026-03-01T12:00:00Z', end_date: '2026-03-01T23:59:59Z' })).toEqual([1])
    expect(await values(user_id, 'heartrate', { end_date: undefined })).toEqual([0, 1, 2, 3])
    expect(await read(user_id, 'hrv')).toEqual({ groups: {}, next: null, next_cursor: null })
    expect(await values(user_id, 'heartrate', { provider: 'oura' })).toEqual([])
  })

  test('pages through a long window and returns each sample once, even during a push', async () => {
    const user_id = await aUser(w.api)
    const from = Date.parse('2026-02-27T00:00:00Z')
    const many = (type: string, count: number) =>
      Array.from({ length: count }, (_, i) => aSample(new Date(from + i * 20_000).toISOString(), i % 200, { type }))
    await push(w.api, user_id, 'heartrate', many('watch', 11_000), historical)
    await push(w.api, user_id, 'heartrate', many('phone', 9000), historical)
    const received: string[] = []
    let next_cursor: string | null = null
    let pages = 0
    do {
      const page = await read(user_id, 'heartrate', { start_date: '2026-02-27', end_date: '2026-03-09', next_cursor })
      received.push(
        ...Object.values(page.groups).flatMap((groups) =>
          groups.flatMap(({ data }) => data.map(({ timestamp, type }) => `${timestamp} ${type}`)),
        ),
      )
      if (pages++ === 0) await push(w.api, user_id, 'heartrate', [aSample('2026-02-27T00:00:01Z', 1, { type: 'watch' })])
      next_cursor = page.next_cursor
    } while (next_cursor)
    expect([pages, received.length, new Set(received).size]).toEqual([2, 20_000, 20_000])
    const { status } = await errorOf(read(user_id, 'heartrate', { next_cursor: 'bm9uc2Vuc2U' }))
    expect(status).toBe(422)
  })

  test('downsamples to the mean, minimum and maximum of each interval', async () => {
    const user_id = await aUser(w.api)
    await push(
      w.api,
      user_id,
      'heartrate',
      [60, 70, 80, 100].map((value, i) => aSample(at(i * 15), value)),
    )
    const { groups } = await read(user_id, 'heartrate', { downsample: '30m' })
    expect(groups['apple_health_kit']?.[0]?.data).toEqual([
      {
        timestamp: at(0),
        start: at(0),
        end: at(30),
        timezone_offset: null,
        type: null,
        unit: 'bpm',
        value: 65,
        min: 60,
        max: 70,
        count: 2,
      },
      {
        timestamp: at(30),
        start: at(30),
        end: '2026-03-01T10:00:00.000Z',
        timezone_offset: null,
        type: null,
        unit: 'bpm',
        value: 90,
        min: 80,
        max: 100,
        count: 2,
      },
    ])
    for (const downsample of ['7m', 'soon', '0s'])
      expect(await errorOf(read(user_id, 'heartrate', { downsample }))).toMatchObject({
        status: 422,
        detail: [{ loc: ['query', 'downsample'] }],
      })
    expect(await errorOf(read(user_id, 'note', { downsample: '1h' }))).toMatchObject({ status: 422 })
  })

  test('keeps every sample across pages when two apps share an interval', async () => {
    const user_id = await aUser(w.api)
    const second = (i: number, ms: number) => new Date(Date.parse(at(0)) + i * 1000 + ms).toISOString()
    const both = Array.from({ length: 5000 }, (_, i) => [
      aSample(second(i + 1, 0), 60, { source_bundle: 'one' }),
      aSample(second(i + 1, 500), 61, { source_bundle: 'two' }),
    ])
    const samples = [aSample(second(0, 0), 60, { source_bundle: 'one' }), ...both.flat(), aSample(second(6000, 0), 60)]
    await push(w.api, user_id, 'heartrate', samples, historical)
    let [count, next_cursor]: [number, string | null | undefined] = [0, undefined]
    do {
      const page = await read(user_id, 'heartrate', { downsample: '1s', ...(next_cursor ? { next_cursor } : {}) })
      for (const { data } of page.groups['apple_health_kit'] ?? []) for (const sample of data) count += sample.count ?? 0
      next_cursor = page.next_cursor
    } while (next_cursor)
    expect(count).toBe(samples.length)
  })

  test('returns a plain array from the legacy endpoints', async () => {
    const user_id = await aUser(w.api)
    await push(w.api, user_id, 'weight', [aSample(at(0), 150, { unit: 'lb' })])
    await push(w.api, user_id, 'cholesterol', [aSample(at(0), 4.6, { type: 'total' }), aSample(at(0), 1.2, { type: 'hdl' })])
    const query = { start_date: '2026-03-01', end_date: '2026-03-01' }
    const weights = await w.api.listSamplesPlain({ params: { user_id, resource: 'body_weight' }, query })
    expect(weights).toEqual([{ timestamp: at(0), timezone_offset: null, type: null, unit: 'kg', value: 150 * 0.453_592_37 }])
    expect(await w.api.listCholesterolHdl({ params: { user_id }, query })).toMatchObject([{ type: 'hdl', value: 1.2 }])
    expect(await errorOf(w.api.listSamplesPlain({ params: { user_id, resource: 'afib_burden' }, query }))).toMatchObject({ status: 422 })
  })

  test('rejects a legacy read with too many samples', async () => {
    const user_id = await aUser(w.api)
    const many = Array.from({ length: 50_001 }, (_, i) =>
      aSample(new Date(Date.parse('2026-03-01T00:00:00Z') + i * 1000).toISOString(), 60),
    )
    for (const type of ['watch', 'phone'])
      await push(
        w.api,
        user_id,
        'heartrate',
        many.map((sample) => ({ ...sample, type })),
        historical,
      )
    const plain = w.api.listSamplesPlain({ params: { user_id, resource: 'heartrate' }, query: { start_date: '2026-03-01' } })
    expect(await errorOf(plain)).toMatchObject({ status: 400, detail: { error_type: 'TOO_MANY_SAMPLES' } })
  })

  test('rejects an unknown user, provider or resource and a reversed window', async () => {
    const user_id = await aUser(w.api)
    expect(await errorOf(read('8a5f3c1e-0000-4000-8000-000000000000', 'hrv'))).toMatchObject({ status: 404 })
    expect(await errorOf(read(user_id, 'hrv', { provider: 'tidemark' }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'provider'] }],
    })
    expect(await errorOf(read(user_id, 'mood'))).toMatchObject({ status: 422, detail: [{ loc: ['path', 'resource'] }] })
    expect(await errorOf(read(user_id, 'hrv', { end_date: '2026-02-01' }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'end_date'] }],
    })
    expect(await errorOf(push(w.api, user_id, 'hrv', [], { provider: 'tidemark' }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'provider'] }],
    })
  })
})

describe('invalid pushes', () => {
  const good = aSample(at(0), 60)
  const tomorrow = () => new Date(Date.parse(w.app.now()) + 26 * 3_600_000).toISOString()

  test.each<[string, string, unknown, (string | number)[]]>([
    ['a value that is text', 'heartrate', { ...good, value: 'NaN' }, ['value']],
    ['an implausible value', 'heartrate', { ...good, value: 1e308 }, ['value']],
    ['a negative count', 'steps', { ...good, value: -1 }, ['value']],
    ['no value', 'heartrate', { start_date: at(0) }, ['value']],
    ['no time', 'heartrate', { value: 60 }, ['start_date']],
    ['the year 1', 'heartrate', aSample('0001-01-01T00:00:00Z', 60), ['start_date']],
    ['a day that does not exist', 'heartrate', aSample('2026-02-30T00:00:00Z', 60), ['start_date']],
    ['a time without a zone', 'heartrate', aSample('2026-03-01T09:00:00', 60), ['start_date']],
    ['an end before the start', 'steps', aSample(at(5), 60, { end_date: at(4) }), ['end_date']],
    ['an end after a year', 'steps', aSample('2020-01-01T00:00:00Z', 60, { end_date: '2021-01-01T00:00:00Z' }), ['end_date']],
    ['another unit', 'heartrate', { ...good, unit: 'mmHg' }, ['unit']],
    ['the unit of another rate', 'heartrate', { ...good, unit: 'breaths/min' }, ['unit']],
    ['a unit named like an object property', 'heartrate', { ...good, unit: 'constructor' }, ['unit']],
    ['a type that is a number', 'heartrate', { ...good, type: 7 }, ['type']],
    ['an alert without a type', 'heart_rate_alert', aSample(at(0), 1, { end_date: at(1) }), ['type']],
    ['an alert of an unknown type', 'heart_rate_alert', aSample(at(0), 1, { type: 'odd' }), ['type']],
    ['an unknown sensor', 'body_temperature', aSample(at(0), 36, { sensor_location: 'hair' }), ['sensor_location']],
    ['a blood pressure without a diastolic value', 'blood_pressure', { systolic: good }, ['diastolic']],
    ['an implausible diastolic pressure', 'blood_pressure', { systolic: good, diastolic: { ...good, value: 900 } }, ['diastolic', 'value']],
    ['a note that is a number', 'note', good, ['value']],
    ['an invalid offset', 'heartrate', { ...good, timezone_offset: 0.5 }, ['timezone_offset']],
    ['an invalid modified_at', 'heartrate', { ...good, modified_at: 'yesterday' }, ['modified_at']],
    ['a value that is not an object', 'heartrate', 60, []],
  ])('rejects %s and stores nothing', async (_, resource, invalid, path) => {
    const user_id = await aUser(w.api)
    const valid =
      resource === 'blood_pressure'
        ? { systolic: good, diastolic: good }
        : aSample(at(9), resource === 'note' ? 'Rested.' : 1, {
            type: 'watch',
            ...(resource === 'heart_rate_alert' ? { type: 'high_heart_rate' } : {}),
            ...(resource === 'body_temperature' ? { value: 36 } : {}),
          })
    const { status, detail } = await errorOf(push(w.api, user_id, resource, [valid, valid, valid, invalid]))
    expect([status, detail]).toEqual([422, [expect.objectContaining({ loc: ['body', 'data', 3, ...path] })]])
    await expectNothing(user_id)
  })

  test('rejects a window that ends before it starts', async () => {
    const user_id = await aUser(w.api)
    const window = { stage: 'historical', start_date: at(1), end_date: at(0) }
    expect(await errorOf(push(w.api, user_id, 'heartrate', [good], window))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'end_date'] }],
    })
    expect(await userEvents(w.app, w.team_id, user_id)).toEqual([])
  })

  test('rejects a future time', async () => {
    const user_id = await aUser(w.api)
    for (const invalid of [aSample(tomorrow(), 60), aSample(at(0), 60, { modified_at: tomorrow() })])
      expect(await errorOf(push(w.api, user_id, 'heartrate', [invalid]))).toMatchObject({
        status: 422,
        detail: [{ msg: 'Must not be in the future.' }],
      })
    expect(await errorOf(push(w.api, user_id, 'heartrate', [], { modified_at: tomorrow() }))).toMatchObject({ status: 422 })
    await expectNothing(user_id)
  })

  test('rejects NaN, infinity and numbers out of range', async () => {
    const user_id = await aUser(w.api)
    const body = (value: string) => `{"provider":"manual","data":[{"start_date":"${at(0)}","value":${value}}]}`
    for (const value of ['NaN', 'Infinity', '1e400', '-1e400']) expect((await raw(user_id, 'heartrate', body(value))).status).toBe(422)
    await expectNothing(user_id)
  })

  test('rejects a million samples', async () => {
    const user_id = await aUser(w.api)
    const sample = JSON.stringify({ value: 1, start_date: at(0) })
    const body = `{"provider":"manual","data":[${`${sample},`.repeat(999_999)}${sample}]}`
    expect(await raw(user_id, 'heartrate', body)).toMatchObject({ status: 413, body: { detail: { error_type: 'BODY_TOO_LARGE' } } })
    expect(await raw(user_id, 'heartrate', gzipSync(body), 'gzip')).toMatchObject({
      status: 413,
      body: { detail: { error_type: 'BODY_TOO_LARGE' } },
    })
    const small = (count: number) => raw(user_id, 'heartrate', JSON.stringify({ provider: 'manual', data: new Array(count).fill(0) }))
    expect(await small(1_000_000)).toMatchObject({ status: 413, body: { detail: { error_type: 'BODY_TOO_LARGE' } } })
    expect(await small(150_000)).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'data'], type: 'too_big' }] } })
    await expectNothing(user_id)
  })

  test('rejects samples of too many days, types or apps', async () => {
    const user_id = await aUser(w.api)
    const days = Array.from({ length: 4001 }, (_, i) =>
      aSample(new Date(Date.parse('2010-01-01T00:00:00Z') + i * 86_400_000).toISOString(), 60),
    )
    const apps = Array.from({ length: 101 }, (_, i) => aSample(at(0), 'Rested.', { source_bundle: `com.example.${i}`, tags: ['food'] }))
    const types = Array.from({ length: 101 }, (_, i) => aSample(at(0), 60, { type: `type-${i}` }))
    for (const [resource, data] of [
      ['heartrate', days],
      ['note', apps],
      ['heartrate', types],
    ] as const)
      expect(await errorOf(push(w.api, user_id, resource, data))).toMatchObject({
        status: 422,
        detail: [{ loc: ['body', 'data'], type: 'too_big' }],
      })
    await expectNothing(user_id)
  })

  test('rejects a gzip bomb, invalid gzip and other encodings', async () => {
    const user_id = await aUser(w.api)
    const bomb = gzipSync(Buffer.alloc(2 * LARGE_BODY, 32))
    expect(bomb.length).toBeLessThan(LARGE_BODY / 100)
    expect(await raw(user_id, 'heartrate', bomb, 'gzip')).toMatchObject({ status: 413 })
    expect(await raw(user_id, 'heartrate', 'not gzip', 'gzip')).toMatchObject({ status: 422, body: { detail: [{ type: 'gzip_invalid' }] } })
    expect(await raw(user_id, 'heartrate', '{}', 'br')).toMatchObject({
      status: 415,
      body: { detail: { error_type: 'UNSUPPORTED_CONTENT_ENCODING' } },
    })
    await expectNothing(user_id)
  })

  async function expectNothing(user_id: string) {
    const [row] = await query(
      w.url,
      "select (select count(*) from sample_days where user_id = $1) + (select count(*) from events where user_id = $1 and event_type <> 'user.created') + (select count(*) from connections where user_id = $1) as stored",
      [user_id],
    )
    expect(Number(row?.['stored'])).toBe(0)
  }
})

test('accepts many historical days from several devices in one request', async () => {
  const user_id = await aUser(w.api)
  const day = (i: number) => new Date(Date.parse('2012-01-01T08:00:00Z') + i * 86_400_000).toISOString()
  const types = ['watch', 'phone', 'ring', 'app']
  const samples = Array.from({ length: 3500 }, (_, i) => types.map((type) => aSample(day(i), 60, { type }))).flat()
  expect(await push(w.api, user_id, 'heartrate', samples, { stage: 'historical' })).toMatchObject({ created: 14_000 })
  const [row] = await query(w.url, 'select count(*)::int as days from sample_days where user_id = $1', [user_id])
  expect(row?.['days']).toBe(14_000)
})

test('live data does not wait for a backfill of other days', async () => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'heartrate', [aSample('2026-02-01T09:00:00Z', 60)])
  const backfill = new pg.Client(asTest(w.url))
  await backfill.connect()
  await backfill.query('begin')
  await backfill.query('select from sample_days where team_id = $1 and user_id = $2 for update', [w.team_id, user_id])
  const blocked = push(w.api, user_id, 'heartrate', [aSample('2026-02-01T10:00:00Z', 61)], { stage: 'historical' })
  expect(await push(w.api, user_id, 'heartrate', [aSample(at(0), 62)])).toMatchObject({ created: 1 })
  await backfill.query('rollback')
  await backfill.end()
  expect(await blocked).toMatchObject({ created: 1 })
})

test.each([
  ['a sample', { value: 62 }, 62],
  ['a number', 62, 62],
  ['null', null, null],
])('accepts %s as the pulse of a blood pressure', async (_, pulse, expected) => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'blood_pressure', [{ start_date: at(0), systolic: { value: 118 }, diastolic: { value: 76 }, pulse }])
  const { groups } = await read(user_id, 'blood_pressure')
  expect(groups['apple_health_kit']?.[0]?.data).toMatchObject([{ systolic: 118, diastolic: 76, pulse: expected }])
})

test('truncates a long name between two characters', async () => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'heartrate', [aSample(at(0), 60, { source_bundle: `${'a'.repeat(254)}😀` })])
  const { groups } = await read(user_id, 'heartrate')
  expect(groups['apple_health_kit']?.[0]?.source.app_id?.isWellFormed()).toBe(true)
})

test('assigns a device ID to a named device and its samples', async () => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'heartrate', [
    aSample(at(0), 60, { type: 'watch', product_type: 'Watch6,2' }),
    aSample(at(1), 61, { type: 'watch', product_type: 'Watch6,2' }),
  ])
  const { groups } = await read(user_id, 'heartrate')
  const devices = await w.api.listDevices({ params: { user_id } })
  expect(devices).toMatchObject([{ device_model: 'Watch6,2', source_type: 'watch', provider: 'apple_health_kit' }])
  expect(groups['apple_health_kit']?.map(({ source }) => source.device_id)).toEqual([devices[0]?.id])
})

test('derives the source type of a device only from resources that define it', async () => {
  const t = await w.tenant()
  const user_id = await aUser(t.api)
  const product_type = 'Pen 3'
  await push(t.api, user_id, 'insulin_injection', [aSample(at(0), 4, { type: 'rapid_acting', product_type })])
  await push(t.api, user_id, 'glucose', [aSample(at(0), 5, { type: 'automatic', product_type })])
  await push(t.api, user_id, 'insulin_injection', [aSample(at(1), 4, { type: 'long_acting', product_type })])
  await push(t.api, user_id, 'glucose', [aSample(at(1), 5, { product_type })])
  expect(await t.api.listDevices({ params: { user_id } })).toMatchObject([{ device_model: 'Pen 3', source_type: 'automatic' }])
  const events = (await userEvents(w.app, t.team_id, user_id)).filter(({ event_type }) => event_type.startsWith('provider.device.'))
  expect(events.map(({ event_type, data }) => [event_type, data['source_type']])).toEqual([
    ['provider.device.created', 'unknown'],
    ['provider.device.updated', 'automatic'],
  ])
})

test('stores samples encrypted', async () => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'note', [aSample(at(0), 'Felt wretched after the fair', { end_date: at(1), tags: ['food'] })])
  await push(w.api, user_id, 'ige', [aSample(at(0), 31, { type: 'hazelnut' })])
  const [row] = await query(
    w.url,
    "select string_agg(to_jsonb(d)::text || encode(sealed, 'escape'), ' ') as text from sample_days d where user_id = $1",
    [user_id],
  )
  expect(row?.['text']).not.toMatch(/wretched|hazelnut|"food"/)
})

test('erases every sample, summary and event with the user', async () => {
  const user_id = await aUser(w.api)
  await push(w.api, user_id, 'heartrate', [aSample(at(0), 60)])
  await w.api.deleteUser({ params: { user_id } })
  await w.api.moveClock({ body: { advance_seconds: 8 * 86_400 } })
  const tables = ['sample_days', 'summaries', 'workout_streams', 'resource_states', 'historical_pulls', 'events', 'sealing_keys']
  for (const table of tables)
    expect([table, await query(w.url, `select 1 from ${table} where user_id = $1`, [user_id])]).toEqual([table, []])
  await w.api.resetClock()
})

test('lets a sign-in token push samples for its own user only', async () => {
  const [user_id, other] = [await aUser(w.api), await aUser(w.api)]
  const { sign_in_token } = await w.api.createUserToken({ params: { user_id } })
  const phone = createClient(w.base, { authorization: `Bearer ${sign_in_token}` })
  expect(await push(phone, user_id, 'heartrate', [aSample(at(0), 60)])).toMatchObject({ created: 1 })
  expect(await errorOf(push(phone, other, 'heartrate', [aSample(at(0), 60)]))).toMatchObject({ status: 404 })
  expect(
    await errorOf(phone.listSamples({ params: { user_id, resource: 'heartrate' }, query: { start_date: '2026-03-01' } })),
  ).toMatchObject({ status: 403, detail: { error_type: 'USER_TOKEN_NOT_ALLOWED' } })
})

async function raw(user_id: string, resource: string, body: Buffer | string, encoding?: string) {
  const response = await fetch(`${w.base}/v2/timeseries/${user_id}/${resource}`, {
    method: 'POST',
    headers: {
      'x-service-api-key': w.team_api_key,
      'content-type': 'application/json',
      ...(encoding ? { 'content-encoding': encoding } : {}),
    },
    body: body as string,
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
