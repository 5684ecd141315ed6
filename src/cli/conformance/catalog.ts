import { assertThat, expectRefusal, expectStatus, type Family, fieldsOf, listOf, requireId, skip } from './session.ts'

const testFields = ['id', 'slug', 'name', 'sample_type', 'method', 'price', 'is_active', 'status', 'lab', 'markers']
const labFields = ['id', 'slug', 'name', 'first_line_address', 'city', 'zipcode', 'collection_methods', 'sample_types']

type Test = { id: string; method: string; status: string; markers: { aoe: { questions: unknown[] } | null }[] | null }

const hasNoQuestions = ({ markers }: Test) => !markers?.some(({ aoe }) => aoe?.questions?.length)

export const catalog: Family = {
  name: 'Lab tests',
  checks: [
    {
      name: 'lists lab tests with every required field',
      spec: 'LabTest',
      async run(session) {
        const reply = await session.call('team', 'GET', '/v3/lab_tests')
        expectStatus(reply, 200)
        const tests = listOf(reply.body, 'the list')
        for (const test of tests) fieldsOf(test, testFields, 'a lab test')
        const usable = (tests as unknown as Test[]).filter((test) => test.status === 'active' && hasNoQuestions(test))
        const walkIn = usable.find(({ method }) => method === 'walk_in_test')
        if (!walkIn) skip('there is no active walk-in test without AoE questions')
        session.ids['lab_test_id'] = (walkIn as Test).id
      },
    },
    {
      name: 'returns a lab test by its ID',
      spec: 'LabTest',
      async run(session) {
        const reply = await session.call('team', 'GET', `/v3/lab_tests/${requireId(session, 'lab_test_id')}`)
        expectStatus(reply, 200)
        fieldsOf(fieldsOf(reply.body, testFields, 'the lab test')['lab'], labFields, 'its lab')
      },
    },
    {
      name: 'lists labs with every required field',
      spec: 'Lab',
      async run(session) {
        const reply = await session.call('team', 'GET', '/v3/lab_tests/labs')
        expectStatus(reply, 200)
        for (const lab of listOf(reply.body, 'the list')) fieldsOf(lab, labFields, 'a lab')
      },
    },
    {
      name: 'lists markers in pages',
      spec: 'Marker',
      async run(session) {
        const reply = await session.call('team', 'GET', '/v3/lab_tests/markers?size=2')
        expectStatus(reply, 200)
        const markers = listOf(fieldsOf(reply.body, ['markers'], 'the page')['markers'], 'markers')
        assertThat(markers.length <= 2, 'size is ignored')
        for (const marker of markers) fieldsOf(marker, ['id', 'name', 'slug'], 'a marker')
      },
    },
    {
      name: 'returns 404 for an unknown lab test',
      spec: 'Errors',
      run: async ({ call }) => void expectRefusal(await call('team', 'GET', '/v3/lab_tests/00000000-0000-4000-8000-000000000000'), 404),
    },
  ],
}
