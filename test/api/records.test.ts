import { beforeAll, describe, expect, test } from 'vitest'
import { sendRequest } from '../../src/contract/client.ts'
import { endpoints } from '../../src/contract/index.ts'
import { findLeaks } from '../support/leaks.ts'
import { anAddress, people, someInfo, someInsurance } from '../support/people.ts'
import { query } from '../support/query.ts'
import { newUuid } from '../support/seeded.ts'
import { errorOf, readWorkerLog, replica, type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const [zephyrine, bartholomaus, ysolde] = people
const newUser = (api = w.api) => api.createUser({ body: { client_user_id: `user-${newUuid()}` } })

const fullInfo = someInfo({
  address: anAddress({ access_notes: 'Ring twice' }),
  medical_proxy: {
    first_name: bartholomaus.first_name,
    last_name: bartholomaus.last_name,
    address: anAddress(),
    phone_number: bartholomaus.phone_number,
    household_income: 52_000,
    household_size: 3,
    email: bartholomaus.email,
  },
  race: 'asian',
  ethnicity: 'hispanic',
  sexual_orientation: 'dont_know',
  gender_identity: 'genderqueer',
})

describe('demographics', () => {
  test('are returned with every field as stored', async () => {
    const user = await newUser()
    expect(await w.api.putUserInfo({ params: user, body: fullInfo })).toEqual(fullInfo)
    expect(await w.api.getUserInfo({ params: user })).toEqual(fullInfo)
  })
  test('require only the required fields', async () => {
    const user = await newUser()
    const { second_line: _, ...address } = anAddress()
    await w.api.putUserInfo({ params: user, body: someInfo({ address }) })
    expect(await w.api.getUserInfo({ params: user })).toEqual(someInfo({ address: { ...address, second_line: '' } }))
  })
  test('are replaced as a whole by an update', async () => {
    const user = await newUser()
    await w.api.putUserInfo({ params: user, body: fullInfo })
    await w.api.putUserInfo({ params: user, body: someInfo({}, ysolde) })
    expect(await w.api.getUserInfo({ params: user })).toEqual(someInfo({}, ysolde))
  })
  test('reject a future birth date, as insurances do', async () => {
    const user = await newUser()
    const dob = '2999-01-01'
    expect(await errorOf(w.api.putUserInfo({ params: user, body: someInfo({ dob }) }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'dob'] }],
    })
    expect(await errorOf(w.api.createInsurance({ params: user, body: someInsurance({ insured: someInfo({ dob }) }) }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'insured', 'dob'] }],
    })
  })
  test('are readable on every replica with the encryption key', async () => {
    const other = await replica()
    const user = await newUser()
    await w.api.putUserInfo({ params: user, body: fullInfo })
    const read = await sendRequest(other.base, endpoints.getUserInfo, { params: user, headers: { 'x-service-api-key': w.team_api_key } })
    expect(read.body).toEqual(fullInfo)
  })
  test('return 404 before they are stored and for an unknown user', async () => {
    expect(await errorOf(w.api.getUserInfo({ params: await newUser() }))).toMatchObject({
      status: 404,
      detail: { error_type: 'USER_INFO_NOT_FOUND', error_message: expect.stringContaining('PATCH') },
    })
    const unknown = { user_id: newUuid() }
    for (const call of [() => w.api.getUserInfo({ params: unknown }), () => w.api.putUserInfo({ params: unknown, body: someInfo() })])
      expect(await errorOf(call())).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test.each([
    [{ first_name: undefined }, ['first_name'], 'missing'],
    [{ last_name: '' }, ['last_name'], 'too_small'],
    [{ email: 'nobody' }, ['email'], 'format_error'],
    [{ phone_number: 5 }, ['phone_number'], 'type_error'],
    [{ gender: 'unsure' }, ['gender'], 'enum'],
    [{ dob: '23.07.1961' }, ['dob'], 'format_error'],
    [{ race: 'martian' }, ['race'], 'enum'],
    [{ address: undefined }, ['address'], 'missing'],
    [{ address: anAddress({ zip: undefined }) }, ['address', 'zip'], 'missing'],
    [{ medical_proxy: { first_name: 'x' } }, ['medical_proxy', 'last_name'], 'missing'],
  ])('are rejected with %j, and the error names the field', async (change, field, type) => {
    const response = await errorOf(w.api.putUserInfo({ params: await newUser(), body: someInfo(change) }))
    expect(response.status).toBe(422)
    expect(response.detail).toContainEqual({ type, loc: ['body', ...field], msg: expect.any(String) })
    expect(findLeaks(JSON.stringify(response), 'the response')).toEqual([])
  })
})

describe('insurances', () => {
  const guarantor = {
    first_name: ysolde.first_name,
    last_name: ysolde.last_name,
    address: anAddress(),
    phone_number: ysolde.phone_number,
    household_income: null,
    household_size: 2,
    email: ysolde.email,
  }
  const noAddress = { first_line: '', second_line: '', country: '', zip: '', city: '', state: '' }

  test('are returned as stored, with the name of the payor', async () => {
    const user = await newUser()
    const body = someInsurance({ group_id: 'G-7', guarantor, relationship: 'Spouse' })
    const expectedInsurance = { ...body, is_primary: true, company: { name: 'Oakmeadow Mutual Health', address: noAddress } }
    expect(await w.api.createInsurance({ params: user, body })).toEqual(expectedInsurance)
    expect(await w.api.getInsurance({ params: user })).toEqual(expectedInsurance)
  })
  test('use the payor code as name if the catalog does not list it', async () => {
    const user = await newUser()
    await w.api.createInsurance({ params: user, body: someInsurance({ payor_code: 'NOBODY-1' }) })
    expect(await w.api.getInsurance({ params: user })).toMatchObject({ payor_code: 'NOBODY-1', company: { name: 'NOBODY-1' } })
  })
  test('return the latest primary or secondary insurance', async () => {
    const { api } = await w.tenant()
    const user = await newUser(api)
    for (const [group_id, is_primary] of [
      ['first', true],
      ['second', true],
      ['third', false],
      ['fourth', false],
    ] as const) {
      await api.createInsurance({ params: user, body: someInsurance({ group_id, is_primary }) })
      await api.moveClock({ body: { advance_seconds: 1 } })
    }
    expect(await api.getInsurance({ params: user })).toMatchObject({ group_id: 'second', is_primary: true })
    expect(await api.getInsurance({ params: user, query: { is_primary: true } })).toMatchObject({ group_id: 'second' })
    expect(await api.getInsurance({ params: user, query: { is_primary: false } })).toMatchObject({ group_id: 'fourth', is_primary: false })
  })
  test('return 404 if none of the kind is stored and for an unknown user', async () => {
    const user = await newUser()
    await w.api.createInsurance({ params: user, body: someInsurance() })
    expect(await errorOf(w.api.getInsurance({ params: user, query: { is_primary: false } }))).toMatchObject({
      status: 404,
      detail: { error_type: 'INSURANCE_NOT_FOUND', error_message: expect.stringContaining('POST') },
    })
    const unknown = { user_id: newUuid() }
    for (const call of [
      () => w.api.getInsurance({ params: unknown }),
      () => w.api.createInsurance({ params: unknown, body: someInsurance() }),
    ])
      expect(await errorOf(call())).toMatchObject({ status: 404, detail: { error_type: 'USER_NOT_FOUND' } })
  })
  test.each([
    [{ payor_code: undefined }, ['payor_code'], 'missing'],
    [{ member_id: '' }, ['member_id'], 'too_small'],
    [{ relationship: 'Cousin' }, ['relationship'], 'enum'],
    [{ insured: someInfo({ dob: undefined }) }, ['insured', 'dob'], 'missing'],
    [{ insured: someInfo({ address: anAddress({ city: 7 }) }) }, ['insured', 'address', 'city'], 'type_error'],
    [{ guarantor: { ...guarantor, household_size: -1 } }, ['guarantor', 'household_size'], 'too_small'],
    [{ is_primary: 'yes' }, ['is_primary'], 'type_error'],
  ])('are rejected with %j, and the error names the field', async (change, field, type) => {
    const response = await errorOf(w.api.createInsurance({ params: await newUser(), body: someInsurance(change) }))
    expect(response.status).toBe(422)
    expect(response.detail).toContainEqual({ type, loc: ['body', ...field], msg: expect.any(String) })
    expect(findLeaks(JSON.stringify(response), 'the response')).toEqual([])
  })
  test('reject an is_primary that is not a boolean', async () => {
    const query = { is_primary: 'maybe' as unknown as boolean }
    expect(await errorOf(w.api.getInsurance({ params: await newUser(), query }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['query', 'is_primary'] }],
    })
  })
})

describe('people search', () => {
  let tenant: Tenant
  const ids: Record<string, string> = {}
  beforeAll(async () => {
    tenant = await w.tenant()
    for (const person of people) {
      const user = await newUser(tenant.api)
      await tenant.api.putUserInfo({ params: user, body: someInfo({}, person) })
      ids[user.user_id] = person.first_name
    }
  })
  const namesFor = async (query: string, { api } = tenant) =>
    (await api.findPeople({ body: { query } })).map((user) => ids[user.user_id]).toSorted()

  test.each([
    ['a name', zephyrine.last_name, zephyrine],
    ['a name in another case', 'QUILLFEATHER', zephyrine],
    ['a name without its accents', 'odegard', bartholomaus],
    ['a name with decomposed accents', 'Bartholomäus'.normalize('NFD'), bartholomaus],
    ['a part of a double name', 'Nkemelu', bartholomaus],
    ['a double name', 'Ödegård-Nkemelu', bartholomaus],
    ['a name with an apostrophe', "O'Thistlewick", ysolde],
    ['a name that is longer than the indexed prefix', 'Bartholomaus', bartholomaus],
    ['the prefix of a name', 'quil', zephyrine],
    ['two names in any order', 'Quillfeather Zephyrine', zephyrine],
    ['an email address', zephyrine.email, zephyrine],
    ['a part of an email address', 'bartholomaus@', bartholomaus],
    ['a phone number', zephyrine.phone_number, zephyrine],
    ['a phone number with separators', '+1 (202) 555-0143', zephyrine],
    ['a phone number with dots', '1.202.555.0143', zephyrine],
    ['a phone number without a country code', '202-555-0143', zephyrine],
    ['the digits of a phone number', '2025550199', ysolde],
    ['a birth date', '1961-07-23', zephyrine],
    ['a month of birth', '1987-12', bartholomaus],
    ['a name and a birth date', 'ysoldemarie 2001-02-28', ysolde],
    ['a birth date and a phone number', '2001-02-28 202 555 0199', ysolde],
    ['an initial and a name', 'Z. Quillfeather', zephyrine],
  ])('finds a person by %s', async (_, query, person) => {
    expect(await namesFor(query)).toEqual([person.first_name])
  })
  test('returns all matches, newest first', async () => {
    expect(await namesFor('example')).toHaveLength(3)
    const users = await tenant.api.findPeople({ body: { query: '+1 202 555' } })
    expect(users.map((user) => ids[user.user_id])).toEqual([ysolde.first_name, bartholomaus.first_name, zephyrine.first_name])
    expect(users[0]).toEqual(await tenant.api.getUser({ params: { user_id: users[0]?.user_id as string } }))
  })
  test.each(['Quillfeathers', 'feather', 'Zephyrine Nkemelu', 'Bartholomausen', '1961-07-24', '202-555-0144', 'z q', '..'])(
    'finds nobody by %s',
    async (query) => {
      expect(await namesFor(query)).toEqual([])
    },
  )
  test.each(['', 'z', 'z'.repeat(201), 5])('rejects the query "%s"', async (query) => {
    expect(await errorOf(w.api.findPeople({ body: { query: query as string } }))).toMatchObject({
      status: 422,
      detail: [{ loc: ['body', 'query'] }],
    })
  })
  test('does not find people of another team', async () => {
    const other = await w.tenant()
    const theirs = await newUser(other.api)
    await other.api.putUserInfo({ params: theirs, body: someInfo() })
    expect((await other.api.findPeople({ body: { query: 'quillfeather' } })).map((user) => user.user_id)).toEqual([theirs.user_id])
    expect(await namesFor('quillfeather')).toEqual([zephyrine.first_name])
  })
  test('searches only the latest demographics', async () => {
    const { api } = await w.tenant()
    const user = await newUser(api)
    await api.putUserInfo({ params: user, body: someInfo({}, zephyrine) })
    await api.putUserInfo({ params: user, body: someInfo({}, ysolde) })
    expect(await api.findPeople({ body: { query: 'quillfeather' } })).toEqual([])
    expect(await api.findPeople({ body: { query: 'thistlewick' } })).toEqual([user])
  })
  test('hides people scheduled for deletion until it is undone', async () => {
    const { api } = await w.tenant()
    const user = await newUser(api)
    await api.putUserInfo({ params: user, body: someInfo() })
    await api.deleteUser({ params: user })
    expect(await api.findPeople({ body: { query: 'quillfeather' } })).toEqual([])
    await api.undoDeleteUser({ query: { user_id: user.user_id } })
    expect(await api.findPeople({ body: { query: 'quillfeather' } })).toEqual([user])
  })
  test('writes no search words to the log', async () => {
    await namesFor(zephyrine.last_name)
    const log = readWorkerLog()
    expect(log).toContain('"route":"/v2/user/search"')
    expect(findLeaks(log, 'log')).toEqual([])
    expect(log.toLowerCase()).not.toContain('quillfe')
  })
})

test('cannot decrypt demographics that were moved to another user', async () => {
  const [first, second] = [await newUser(), await newUser()]
  for (const user of [first, second]) await w.api.putUserInfo({ params: user, body: someInfo() })
  const [row] = await query(w.url, 'select sealed from user_info where user_id = $1', [first.user_id])
  await query(w.url, 'update user_info set sealed = $1 where user_id = $2', [row?.['sealed'], second.user_id])
  expect((await errorOf(w.api.getUserInfo({ params: second }))).status).toBe(500)
  expect(await w.api.getUserInfo({ params: first })).toEqual(someInfo())
})

describe('rows moved to another user in the database', () => {
  const move = (statement: string, values: string[]) => query(w.url, statement, values)
  const expectInternalError = async (call: Promise<unknown>) => {
    const response = await errorOf(call)
    expect(response).toMatchObject({ status: 500, detail: { error_type: 'INTERNAL_ERROR' } })
    expect(findLeaks(JSON.stringify(response), 'the response')).toEqual([])
  }

  test('cannot be decrypted with a moved key', async () => {
    const [first, second] = [await newUser(), await newUser()]
    await w.api.putUserInfo({ params: first, body: someInfo() })
    await move('delete from sealing_keys where user_id = $1', [second.user_id])
    await move('update sealing_keys set user_id = $2 where user_id = $1', [first.user_id, second.user_id])
    await move('update user_info set user_id = $2 where user_id = $1', [first.user_id, second.user_id])
    await expectInternalError(w.api.getUserInfo({ params: second }))
  })
  test('cannot be decrypted for an insurance, even with its key', async () => {
    const [first, second] = [await newUser(), await newUser()]
    await w.api.createInsurance({ params: first, body: someInsurance() })
    await move('update user_insurances set user_id = $2 where user_id = $1', [first.user_id, second.user_id])
    await expectInternalError(w.api.getInsurance({ params: second }))
    await move('delete from sealing_keys where user_id = $1', [second.user_id])
    await move('update sealing_keys set user_id = $2 where user_id = $1', [first.user_id, second.user_id])
    await expectInternalError(w.api.getInsurance({ params: second }))
  })
})
