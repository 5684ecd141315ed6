import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Message } from '../../src/labs/hl7/codec/rules-message.ts'
import { orderMessages } from '../../src/labs/hl7/messages/rules-order.ts'
import { builtInProfiles, readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import type { Profile } from '../../src/labs/hl7/profiles/rules-profile.ts'
import { sampleEnvelope, sampleOrder } from '../../src/labs/hl7/profiles/rules-sample.ts'
import type { Misbehavior } from '../../src/labs/hl7/stand-in/desk.ts'
import { startStandIn } from '../../src/labs/hl7/stand-in/lab.ts'
import { judgeOrder } from '../../src/labs/hl7/stand-in/rules-answers.ts'
import { atEnd } from '../support/at-end.ts'
import { assay as bin, run } from '../support/process.ts'
import { temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

// The command uses no database.
const cli = assay('')
const folder = temporaryFolder()

let files = 0
function aFile(content: string) {
  const path = join(folder, `file-${++files}`)
  writeFileSync(path, content)
  return path
}
const aProfile = (profile: object) => aFile(JSON.stringify(profile))

test('prints how far a built-in profile was verified, and the messages of an invented order', async () => {
  const { code, out } = await cli.run('labs', 'check', '--profile', 'orm-2.3-grouped')
  expect(code).toBe(0)
  expect(out).toContain('verification: From public code, not verified by any lab.')
  expect(out).toMatch(/^MSH\|\^~\\&\|ASSAY\|ACC123\|.*\|ORM\^O01\|.*\|T\|2\.3$/m)
  expect(out).toMatch(/^ORC\|NW\|/m)
  expect(out).toMatch(/^ORC\|CA\|/m)
  expect(out).toMatch(/no problems\n$/)
})

test('a file extends a built-in profile, and every problem of it is named', async () => {
  const valid = aProfile({ extends: 'orm-2.3-grouped', name: 'quillmoor', message: { sending_application: 'CLINIC' } })
  const { sample_messages } = await cli.json('labs', 'check', '--profile', valid)
  expect(sample_messages[0][0]).toMatch(/^MSH\|\^~\\&\|CLINIC\|/)
  const wrong = aProfile({ extends: 'orm-2.3-grouped', version: '2.9', message: { sending_app: 'X' }, time_zone: 'Phoenix' })
  const { code, out } = await cli.run('labs', 'check', '--profile', wrong)
  expect(code).toBe(1)
  expect(out.split('\n').map((line) => line.trim().split(':')[0])).toEqual(['3 problems', 'version', 'time_zone', 'message', ''])
})

test('names the fields of the sample message that are too long for the lab', async () => {
  const long = aProfile({ extends: 'loi-lri-2.5.1', order: { number_suffix: '^ASSAY-OF-THE-CLINIC' } })
  const { code, out } = await cli.run('labs', 'check', '--profile', long)
  expect(code).toBe(1)
  expect(out).toContain('ORC-2: The field has more than 22 characters.')
})

test('reads a result message of the lab', async () => {
  const message = aFile(
    [
      'MSH|^~\\&|LAB|MAIN|ASSAY|ACC123|20260302093000-0600||ORU^R01^ORU_R01|L000045|P|2.5.1',
      'PID|1||U-7f3a^^^ASSAY^PI||DOE^JANE||19840229|F',
      'OBR|1|ORD9-1|ACC-5567|24331-1^Lipid panel^LN|||20260301081500-0600||||||||||||||||||F',
      'OBX|1|NM|2093-3^Cholesterol^LN||212|mg/dL|100-199|H|||F',
    ].join('\n'),
  )
  const { results } = await cli.json('labs', 'check', '--profile', 'loi-lri-2.5.1', '--results', message)
  expect(results).toMatchObject([
    { documents: [], patients: [{ account: 'ACC123', groups: [{ status: 'final', observations: [{ value: { text: '212' } }] }] }] },
  ])
})

test('rejects what is neither a profile nor a message', async () => {
  expect(await cli.run('labs', 'check', '--profile', 'quest')).toMatchObject({ code: 1, err: expect.stringContaining('orm-2.3-grouped') })
  expect(await cli.run('labs', 'check', '--profile', aFile('[]'))).toMatchObject({ code: 1, err: 'The profile is not a JSON object\n' })
  const { out } = await cli.run('labs', 'check', '--profile', aProfile({ extends: 'none' }))
  expect(out).toContain('extends: Must be one of')
  const notHl7 = await cli.run('labs', 'check', '--profile', 'loi-lri-2.5.1', '--results', aFile('hello'))
  expect(notHl7).toMatchObject({ code: 1, err: 'The file must begin with FHS, BHS or MSH.\n' })
})

describe('--send', () => {
  type Received = { control_id: string; actions: string[]; code: string }

  async function aLab(profile: string, misbehavior?: Misbehavior) {
    const received: Received[] = []
    const lab = await startStandIn({
      profile: readBuiltIn(profile),
      host: '127.0.0.1',
      port: 0,
      misbehavior,
      onMessage: (message) => received.push(message),
    })
    atEnd(() => lab[Symbol.asyncDispose]())
    return {
      received,
      check: (...more: string[]) => cli.run('labs', 'check', '--profile', profile, '--send', `127.0.0.1:${lab.port}`, ...more),
    }
  }

  test.each(builtInProfiles())('sends a test order of %s and its cancellation to a lab, which accepts both', async (profile) => {
    const { received, check } = await aLab(profile)
    const { code, out } = await check()
    expect([code, out.split('\n').filter((line) => line.startsWith('sent ')).length]).toEqual([0, received.length])
    expect(new Set(received.map((message) => `${message.actions[0]} ${message.code}`))).toEqual(new Set(['NW AA', 'CA AA']))
    expect(out).toMatch(/^sent \S+: (AA, ORC-1 OK|CA)$/m)
  })

  test('a message that is sent again gets the same answer and counts once', async () => {
    const { received, check } = await aLab('orm-2.3-grouped')
    const [first, second] = [await check(), await check()]
    expect(second.out).toBe(first.out)
    expect(received).toHaveLength(2)
  })

  test('a lab rejects another version and another type of message', async () => {
    const profile = readBuiltIn('orm-2.3-grouped')
    const order = (changes: Partial<Profile>) =>
      orderMessages({ profile: { ...profile, ...changes }, order: sampleOrder, envelope: sampleEnvelope('NW') })[0] as Message
    expect(judgeOrder(order({ version: '2.3.1' }), profile)).toEqual({ code: 'AR', problem: { code: '203', text: 'MSH-12 must be 2.3.' } })
    const production = { ...sampleEnvelope('NW'), processing_id: 'P' } as const
    const [message] = orderMessages({ profile, order: sampleOrder, envelope: production })
    expect(judgeOrder(message as Message, profile)).toMatchObject({ code: 'AR', problem: { code: '202' } })
    expect(judgeOrder(order({}), readBuiltIn('loi-lri-2.5.1'))).toMatchObject({ code: 'AR', problem: { code: '200' } })
  })

  test.each<Misbehavior>(['no_answer', 'late_answer', 'wrong_answer'])(
    'waits no longer than --timeout for a lab with %s',
    async (misbehavior) => {
      const { check } = await aLab('orm-2.3-grouped', misbehavior)
      expect(await check('--timeout', '0.3')).toMatchObject({ code: 1, err: expect.stringMatching(/^The lab did not answer in time/) })
    },
  )

  test('reports a lab that rejects an order or breaks the connection', async () => {
    const rejecting = await aLab('orm-2.3-grouped', 'reject')
    const rejected = await rejecting.check()
    expect([rejected.code, rejected.out]).toEqual([
      1,
      expect.stringContaining('the lab rejected 7K2M4Q9X3T1B with AE: Rejected on request.'),
    ])
    const breaking = await aLab('orm-2.3-grouped', 'disconnect')
    expect(await breaking.check()).toMatchObject({ code: 1, err: 'The lab closed the connection without an answer\n' })
  })

  test('names a connection that fails', async () => {
    const check = (address: string) => cli.run('labs', 'check', '--profile', 'orm-2.3-grouped', '--send', address)
    expect(await check('127.0.0.1:1')).toMatchObject({ code: 1, err: 'The connection to the lab failed (ECONNREFUSED)\n' })
    expect(await check('nowhere')).toMatchObject({ code: 2, err: expect.stringContaining('--send must be a host and a port') })
  })

  test('lab-sim listens on loopback until it is interrupted', async () => {
    const running = run([process.execPath, bin, 'lab-sim', '--profile', 'orm-2.3-grouped', '--port', '0'], { env: {} })
    await running.waitForOutput(/^listening on 127\.0\.0\.1:\d+\n/)
    running.child.kill('SIGINT')
    expect(await running.exited).toMatchObject({ code: 0, stderr: '' })
    expect(await cli.run('lab-sim', '--profile', aProfile({ extends: 'orm-2.3-grouped', version: '9' }))).toMatchObject({
      code: 1,
      err: 'The profile has problems; list them with: assay labs check\n',
    })
  })
})
