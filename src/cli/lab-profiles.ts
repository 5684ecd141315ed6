import { existsSync, readFileSync } from 'node:fs'
import { z } from 'zod'
import { splitFile } from '../labs/hl7/codec/rules-batch.ts'
import { formatMessage, type Message } from '../labs/hl7/codec/rules-message.ts'
import { decodeMessage } from '../labs/hl7/messages/rules-bytes.ts'
import { readDocuments } from '../labs/hl7/messages/rules-documents.ts'
import { messageProblems } from '../labs/hl7/messages/rules-lengths.ts'
import { orderMessages } from '../labs/hl7/messages/rules-order.ts'
import { readResults } from '../labs/hl7/messages/rules-results.ts'
import { sendTrial, type Trial } from '../labs/hl7/mllp/trial.ts'
import { builtInProfiles, builtInText, readProfile } from '../labs/hl7/profiles/read.ts'
import type { Profile } from '../labs/hl7/profiles/rules-profile.ts'
import { sampleEnvelope, sampleOrder } from '../labs/hl7/profiles/rules-sample.ts'
import { SECOND } from '../platform/time.ts'
import { command, print } from './command.ts'
import { readText, unreadableFile } from './service.ts'

export const HostAndPort = z
  .string()
  .regex(/^[^\s:]+:\d{1,5}$/, 'Must be a host and a port, such as test.lab.example:2575.')
  .transform((text) => ({ host: text.replace(/:\d+$/, ''), port: Number(text.replace(/^.*:/, '')) }))
export const Seconds = z
  .string()
  .regex(/^\d{1,4}(\.\d)?$/, 'Must be a number of seconds, such as 30 or 0.5.')
  .transform(Number)

export const checkProfileCommand = command({
  name: 'labs check',
  summary:
    'Check the HL7 profile of a lab. Print every problem of the file and the messages that Assay writes for an invented order. With --results, also print what Assay reads from a result message of the lab. With --send, send the messages to a test system of the lab over MLLP and print its acknowledgments. The command needs no database and exits with 1 if it finds a problem.',
  options: {
    profile: {
      value: 'FILE',
      what: `A profile, or the name of a built-in one: ${builtInProfiles().join(', ')}.`,
      required: true,
      file: true,
    },
    results: {
      value: 'FILE',
      what: 'An ORU^R01 message of the lab, or a batch of them. The output contains what it says about the patient.',
      file: true,
    },
    send: {
      value: 'HOST:PORT',
      what: "The lab's test system. It gets an invented order and its cancellation, marked as a test (MSH-11 T).",
      shape: HostAndPort,
    },
    tls: { what: 'Connect with TLS.' },
    'tls-ca': { value: 'FILE', what: "Certificate of the authority of the lab's certificate, in PEM. Implies --tls.", file: true },
    'tls-cert': { value: 'FILE', what: 'Certificate that identifies you to the lab, in PEM. Implies --tls.', file: true },
    'tls-key': { value: 'FILE', what: 'Private key of --tls-cert, in PEM.', file: true },
    timeout: { value: 'SECONDS', what: 'How long to wait for each acknowledgment.', shape: Seconds, fallback: '30' },
  },
  examples: [
    'assay labs check --profile orm-2.3-grouped',
    'assay labs check --profile lab.json --results sample.oru --json',
    'assay labs check --profile lab.json --send test.lab.example:2575 --tls',
  ],
  async run({ json, profile: file, results: resultFile, send, timeout, ...tls }) {
    const { profile, problems } = readProfile(existsSync(file) ? readText(file) : builtInText(file))
    const messages = profile ? sampleMessages(profile) : []
    const inSamples = [...new Set(messages.flatMap(messageProblems).map(({ place, message }) => `${place}: ${message}`))]
    const found = [...problems.map(({ path, message }) => `${path || 'the file'}: ${message}`), ...inSamples]
    // A lab gets only messages without known problems.
    const sent = profile && send && !found.length ? await sendTrial(profile, addressOf(send, tls), messages, timeout * SECOND) : null
    const report = {
      profile: profile?.name ?? null,
      verification: profile?.verification ?? null,
      problems: [...found, ...(sent ?? []).flatMap(rejectionOf)],
      sample_messages: messages.map((message) => formatMessage(message).split('\r').slice(0, -1)),
      results: profile && resultFile ? readResultFile(profile, resultFile) : null,
      acknowledgments: sent,
    }
    print(json, report, linesOf(report))
    if (report.problems.length) process.exitCode = 1
  },
})

type TlsOptions = { tls: boolean; 'tls-ca': string | undefined; 'tls-cert': string | undefined; 'tls-key': string | undefined }

function addressOf({ host, port }: { host: string; port: number }, options: TlsOptions) {
  const read = (file: string | undefined) => (file === undefined ? undefined : readBytes(file))
  const [ca, cert, key] = [read(options['tls-ca']), read(options['tls-cert']), read(options['tls-key'])]
  const usesTls = options.tls || [ca, cert, key].some((file) => file !== undefined)
  return { host, port, tls: usesTls ? { ca, cert, key } : undefined }
}

const rejectionOf = ({ control_id, code, text }: Trial) =>
  ['AA', 'CA'].includes(code) ? [] : [`the lab rejected ${control_id} with ${code}${text ? `: ${text}` : ''}`]

const sampleMessages = (profile: Profile): Message[] =>
  (['NW', 'CA'] as const).flatMap((action) => orderMessages({ profile, order: sampleOrder, envelope: sampleEnvelope(action) }))

/** The file is one message, or a batch. */
function readResultFile(profile: Profile, file: string) {
  return splitFile(readBytes(file))
    .map((one) => decodeMessage(profile, one))
    .map((message) => ({
      patients: readResults(message, profile),
      documents: readDocuments(message, profile).map(({ name, bytes }) => ({ name, bytes: bytes.length })),
    }))
}

function readBytes(file: string) {
  try {
    return readFileSync(file)
  } catch (error) {
    throw unreadableFile(error as NodeJS.ErrnoException)
  }
}

type Report = {
  profile: string | null
  verification: string | null
  problems: string[]
  sample_messages: string[][]
  results: ReturnType<typeof readResultFile> | null
  acknowledgments: Trial[] | null
}

const linesOf = ({ profile, verification, problems, sample_messages, results, acknowledgments }: Report) => [
  ...(profile ? [`profile ${profile}`, `verification: ${verification}`, ''] : []),
  ...sample_messages.flatMap((segments) => [...segments, '']),
  ...(results ? ['read from the file of --results:', ...JSON.stringify(results, null, 2).split('\n'), ''] : []),
  ...(acknowledgments
    ? [
        ...acknowledgments.map(
          ({ control_id, code, order_control }) => `sent ${control_id}: ${code}${order_control ? `, ORC-1 ${order_control}` : ''}`,
        ),
        '',
      ]
    : []),
  ...(problems.length
    ? [`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}:`, ...problems.map((problem) => `  ${problem}`)]
    : ['no problems']),
]
