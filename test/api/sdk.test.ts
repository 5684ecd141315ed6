import { VitalClient, VitalError } from '@tryvital/vital-node'
import { beforeAll, describe, expect, test } from 'vitest'
import { people } from '../support/people.ts'
import { newUuid } from '../support/seeded.ts'
import { type Tenant, world } from '../support/world.ts'

let w: Awaited<ReturnType<typeof world>>
beforeAll(async () => {
  w = await world()
})

const aClientUserId = () => `sdk-${newUuid()}`

/** The public SDK, unmodified and constructed as its documentation shows. */
const withSdkHeader = ({ team_api_key }: Tenant) => new VitalClient({ apiKey: team_api_key, environment: w.base, maxRetries: 0 })
const withServiceHeader = ({ team_api_key }: Tenant) =>
  new VitalClient({ apiKey: '', environment: w.base, maxRetries: 0, headers: { 'x-service-api-key': team_api_key } })

describe.each([
  ['its default header', withSdkHeader],
  ['x-service-api-key', withServiceHeader],
] as const)('the public SDK with %s', (_, clientOf) => {
  test('creates, reads, lists, patches, deletes and restores a user', async () => {
    const tenant = await w.tenant()
    const { user } = clientOf(tenant)
    const clientUserId = aClientUserId()
    const created = await user.create({
      clientUserId,
      fallbackTimeZone: 'Europe/London',
      fallbackBirthDate: '1961-07-23',
      ingestionStart: '2026-01-01',
      ingestionEnd: '2026-12-31',
    })
    expect(created).toMatchObject({ userId: expect.any(String), clientUserId })

    const read = await user.get(created.userId)
    expect(read).toMatchObject({
      userId: created.userId,
      teamId: tenant.team_id,
      clientUserId,
      connectedSources: [],
      fallbackTimeZone: { id: 'Europe/London', sourceSlug: 'manual' },
      fallbackBirthDate: { value: '1961-07-23', sourceSlug: 'manual' },
    })
    expect(read.createdOn).toBeInstanceOf(Date)
    expect(await user.getByClientUserId(clientUserId)).toEqual(read)
    expect(await user.getAll()).toMatchObject({ users: [read], total: 1, offset: 0, limit: 100 })
    expect(await user.getAll({ offset: 1, limit: 10 })).toMatchObject({ users: [], total: 1, offset: 1, limit: 10 })

    const renamed = aClientUserId()
    await user.patch(created.userId, { clientUserId: renamed })
    expect((await user.get(created.userId)).clientUserId).toBe(renamed)

    expect(await user.delete(created.userId)).toMatchObject({ success: true })
    expect(await failure(user.get(created.userId))).toMatchObject({ statusCode: 404 })
    expect(await user.undoDelete({ userId: created.userId })).toMatchObject({ success: true })
    await user.delete(created.userId)
    expect(await user.undoDelete({ clientUserId: renamed })).toMatchObject({ success: true })
    expect((await user.get(created.userId)).clientUserId).toBe(renamed)
  })

  test('reads the existing user from a client_user_id conflict', async () => {
    const { user } = clientOf(w)
    const clientUserId = aClientUserId()
    const created = await user.create({ clientUserId })
    expect(await failure(user.create({ clientUserId }))).toMatchObject({
      statusCode: 400,
      body: { detail: { error_type: 'INVALID_REQUEST', error_message: 'Client user id already exists.', user_id: created.userId } },
    })
  })

  test('records demographics and insurance and counts users', async () => {
    const { user } = clientOf(await w.tenant())
    const { userId } = await user.create({ clientUserId: aClientUserId() })
    const person = personOf(people[1])

    expect(await user.upsertUserInfo(userId, person)).toMatchObject(person)
    expect(await user.getLatestUserInfo(userId)).toMatchObject(person)

    const insurance = { payorCode: 'OAKMU', memberId: 'MEMBER-55501', relationship: 'Self' as const, insured: person }
    const recorded = await user.createInsurance(userId, insurance)
    expect(recorded).toMatchObject({ ...insurance, company: { name: expect.stringMatching(/\w/) } })
    expect(await user.getLatestInsurance(userId)).toEqual(recorded)
    expect(await failure(user.getLatestInsurance(userId, { isPrimary: false }))).toMatchObject({ statusCode: 404 })

    expect(await user.getTeamMetrics()).toMatchObject({ numberOfUsers: 1, numberOfConnectedSources: 0 })
  })

  test('searches users by an ID prefix', async () => {
    const tenant = await w.tenant()
    const { user, team } = clientOf(tenant)
    const created = await user.create({ clientUserId: 'ward-7-bed-3' })
    expect(await team.getUserById({ queryId: 'ward-7' })).toMatchObject([{ userId: created.userId }])
    expect(await team.getUserById({ queryId: created.userId.slice(0, 8) })).toMatchObject([{ clientUserId: 'ward-7-bed-3' }])
    expect(await team.getUserById({ queryId: 'ward-8' })).toEqual([])
  })
})

test('the SDK reads the catalog and creates, updates and reads lab tests', async () => {
  const tenant = await w.tenant()
  const { labTests } = withSdkHeader(tenant)
  const shared = await labTests.get({ collectionMethod: 'testkit', status: 'active' })
  expect(shared.map(({ lab }) => lab?.slug)).toContain('larkstone')
  expect((await labTests.getLabs()).map(({ id }) => id)).toEqual([1, 2, 3, 4, 5])

  const created = await labTests.create({
    name: 'Heart',
    description: '',
    method: 'walk_in_test',
    markerIds: [1001],
  })
  expect(created).toMatchObject({ isActive: true, status: 'active', price: 18, sampleType: 'serum', markers: [{ id: 1001 }] })
  expect(await labTests.updateLabTest(created.id, { active: false })).toMatchObject({ status: 'inactive' })
  expect(await labTests.getById(created.id)).toMatchObject({ name: 'Heart', status: 'inactive' })

  const page = await labTests.getPaginated({ labTestLimit: 3, markerIds: 1001 })
  expect(page.data).toHaveLength(3)
  expect(
    (await labTests.getPaginated({ labTestLimit: 3, markerIds: [1001, 1002], nextCursor: page.nextCursor as string })).data.length,
  ).toBeGreaterThan(0)

  expect(await labTests.getMarkers({ name: 'lipid', labId: [1, 3], size: 5 })).toMatchObject({ total: 2, page: 1, size: 5, pages: 1 })
  expect(await labTests.getMarkersForLabTest(created.id)).toMatchObject({
    markers: [{ id: 1001, expectedResults: [{ slug: 'cholesterol-total' }, {}, {}, {}, {}, {}, {}] }],
  })
  expect(await labTests.getMarkersForOrderSet({ body: { labTestIds: [created.id] } })).toMatchObject({ total: 1 })
  expect(await labTests.getMarkersByLabAndProviderId('QM10007', 1)).toMatchObject({ id: 1001, aoe: { questions: [{ code: 'FASTING' }] } })
})

test('the SDK finds payors and diagnoses and creates a payor', async () => {
  const { insurance, payor } = withSdkHeader(await w.tenant())
  expect(await insurance.searchGetPayorInfo({ insuranceName: 'silver' })).toMatchObject([{ payorCode: 'SILVR', source: 'platform' }])
  expect(await insurance.searchPayorInfo({ insuranceName: 'silver' })).toMatchObject([{ code: 'SILVR' }])
  expect(await insurance.searchDiagnosis({ diagnosisQuery: 'E78.5' })).toMatchObject([{ diagnosisCode: 'E78.5' }])
  const address = { firstLine: '1 Insurer Plaza', city: 'Hartford', state: 'CT', zip: '06103', country: 'US' }
  expect(await payor.createPayor({ name: 'Union Fund 7', address })).toMatchObject({
    name: 'Union Fund 7',
    source: 'team',
    orgAddress: address,
  })
})

test('the SDK throws a 401 for a wrong key', async () => {
  const { user } = withSdkHeader({ ...w, team_api_key: 'sk_us_wrong' })
  expect(await failure(user.getAll())).toMatchObject({ statusCode: 401, body: { detail: { error_type: 'INVALID_API_KEY' } } })
})

const personOf = ({ first_name, last_name, phone_number, ...rest }: (typeof people)[number]) => ({
  firstName: first_name,
  lastName: last_name,
  phoneNumber: phone_number,
  ...rest,
  gender: 'female' as const,
  address: { firstLine: '77 Marrowbone Crescent', secondLine: 'Apt 9', city: 'Phoenix', state: 'AZ', zip: '85004', country: 'US' },
})

const failure = (call: PromiseLike<unknown>) =>
  Promise.resolve(call).then(
    () => expect.unreachable('the call should fail'),
    (error: VitalError) => {
      expect(error).toBeInstanceOf(VitalError)
      return error
    },
  )
