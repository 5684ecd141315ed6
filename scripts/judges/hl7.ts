import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeText } from '../../src/labs/hl7/codec/rules-charset.ts'
import { formatMessage, type Message, parseMessage } from '../../src/labs/hl7/codec/rules-message.ts'
import { acknowledge, acknowledgmentCodes } from '../../src/labs/hl7/messages/rules-acknowledgment.ts'
import { type OrderToSend, orderMessages } from '../../src/labs/hl7/messages/rules-order.ts'
import { builtInProfiles, readBuiltIn } from '../../src/labs/hl7/profiles/read.ts'
import type { Profile } from '../../src/labs/hl7/profiles/rules-profile.ts'
import { sampleEnvelope, sampleOrder } from '../../src/labs/hl7/profiles/rules-sample.ts'
import { reportKinds, reportMessage } from '../../src/labs/hl7/stand-in/report-message.ts'
import { builtInMeasurements } from '../../src/labs/hl7/stand-in/reports.ts'
import { answersTo } from '../../src/labs/hl7/stand-in/rules-answers.ts'

/**
 * Lets HL7 libraries of others parse and acknowledge every message that Assay and its stand-in lab write for every built-in profile:
 * node scripts/judges/hl7.ts
 * Not part of npm test, because it needs Java, Python and the package registries. A judge whose tool is missing is skipped by name.
 */
const folder = mkdtempSync(join(tmpdir(), 'assay-judges-'))
const here = import.meta.dirname
const { patient } = sampleOrder
const orders: Record<string, Partial<OrderToSend>> = {
  insured: {},
  client: { billing_type: 'client_bill', coverage: null, priority: true, has_abn: true },
  bare: { physician: null, diagnoses: [], clinical_notes: null, coverage: null, collected_at: null, billing_type: 'patient_bill' },
  awkward: {
    patient: { ...patient, first_name: '^~\\&|#', last_name: 'Ørsted "Æ"', address: null, phone_number: null },
    clinical_notes: 'a\nb\rc \\F\\ | ^ & ~ #',
  },
}

const sent_at = '2026-03-02T15:30:01.000Z'
const measurements = builtInMeasurements()
let count = 0
for (const name of builtInProfiles()) {
  const profile = readBuiltIn(name)
  for (const changes of Object.values(orders))
    for (const action of ['NW', 'CA'] as const)
      for (const message of orderMessages({ profile, order: { ...sampleOrder, ...changes }, envelope: sampleEnvelope(action) })) {
        write(profile, formatMessage(message))
        writeStandIn(profile, message, action)
      }
}
for (const version of ['2.3', '2.4', '2.5.1'])
  for (const code of acknowledgmentCodes) {
    const received = parseMessage(`MSH|^~\\&|LAB|MAIN|ASSAY|ACC|20260302||ORU^R01|L${version}|P|${version}`)
    const problem = code.endsWith('A') ? undefined : { code: '199', text: 'The order is unknown. | ^' }
    write(undefined, formatMessage(acknowledge(received, { code, control_id: `A${code}`, sent_at, problem })))
  }

/** The answers of the stand-in lab, and its reports. */
function writeStandIn(profile: Profile, order: Message, action: 'NW' | 'CA') {
  const answering = { verdict: { code: 'AA' } as const, sent_at, controlId: () => `S${count}` }
  for (const answer of answersTo(order, answering)) write(profile, formatMessage(answer))
  if (action === 'CA') return
  for (const kind of reportKinds) {
    const reporting = { profile, kind, control_id: `R${count}`, sent_at, seed: 'judges', measurements }
    write(profile, formatMessage(reportMessage(order, reporting)))
  }
}

function write(profile: Profile | undefined, text: string) {
  writeFileSync(join(folder, `${String(++count).padStart(3, '0')}.hl7`), encodeText(text, profile?.message.charset ?? 'ASCII'))
}

console.log(`${count} messages`)
const judges = [judgeWithPython(), judgeWithHapi()]
process.exit(judges.includes(false) ? 1 : 0)

function judgeWithPython() {
  if (!has('python3', ['-m', 'pip', '--version'])) return skip('hl7 (Python)', 'python3 with pip')
  const library = join(folder, 'python')
  execFileSync('python3', ['-m', 'pip', 'install', '--quiet', '--target', library, 'hl7==0.4.5'], { stdio: 'inherit' })
  return (
    spawnSync('python3', [join(here, 'judge.py'), folder], { stdio: 'inherit', env: { ...process.env, PYTHONPATH: library } }).status === 0
  )
}

function judgeWithHapi() {
  if (!has('java', ['-version']) || !has('curl', ['--version'])) return skip('HAPI HL7v2 (Java)', 'java and curl')
  const jars = join(folder, 'jars')
  mkdirSync(jars)
  for (const path of [
    'ca/uhn/hapi/hapi-base/2.6.0/hapi-base-2.6.0.jar',
    'ca/uhn/hapi/hapi-structures-v23/2.6.0/hapi-structures-v23-2.6.0.jar',
    'ca/uhn/hapi/hapi-structures-v24/2.6.0/hapi-structures-v24-2.6.0.jar',
    'ca/uhn/hapi/hapi-structures-v251/2.6.0/hapi-structures-v251-2.6.0.jar',
    'org/slf4j/slf4j-api/2.0.17/slf4j-api-2.0.17.jar',
    'org/slf4j/slf4j-nop/2.0.17/slf4j-nop-2.0.17.jar',
  ])
    execFileSync('curl', ['-sSf', '--retry', '3', '--output-dir', jars, '-O', `https://repo1.maven.org/maven2/${path}`], {
      stdio: 'inherit',
    })
  return spawnSync('java', ['-cp', join(jars, '*'), join(here, 'Hapi.java'), folder], { stdio: 'inherit', cwd: folder }).status === 0
}

function has(command: string, args: string[]) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0
}

function skip(judge: string, tool: string) {
  console.log(`skipped: ${judge} needs ${tool}`)
  return true
}
