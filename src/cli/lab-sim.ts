import { z } from 'zod'
import { loadProfile } from '../labs/hl7/profiles/read.ts'
import { type Desk, fileMisbehaviors, misbehaviors } from '../labs/hl7/stand-in/desk.ts'
import { startStandIn } from '../labs/hl7/stand-in/lab.ts'
import { ORDERS, RESULTS, startSftpStandIn, USER } from '../labs/hl7/stand-in/sftp-lab.ts'
import { setupProblem } from '../platform/problem.ts'
import { SECOND } from '../platform/time.ts'
import { command } from './command.ts'
import { HostAndPort, Seconds } from './lab-profiles.ts'
import { readText } from './service.ts'
import { untilStopped } from './until-stopped.ts'

const Port = z
  .string()
  .regex(/^\d{1,5}$/, 'Must be a port, from 0 to 65535.')
  .transform(Number)
  .refine((port) => port <= 65_535, 'Must be a port, from 0 to 65535.')

const transports = ['mllp', 'sftp'] as const
const defaultPorts = { mllp: 2575, sftp: 2222 }
const PASSWORD = 'assay'

export const labSimCommand = command({
  name: 'lab-sim',
  summary:
    'Run a stand-in lab on this machine that speaks HL7 as a profile describes, over MLLP or SFTP. It accepts and cancels test orders (MSH-11 T), acknowledges them and prints one line per message. It sends simulated results, over MLLP with --results: final ones and, depending on the seed, partial, corrected and reflex ones. The command needs no database and runs until you press Ctrl-C.',
  options: {
    profile: { value: 'FILE', what: 'A profile, or the name of a built-in one.', required: true, file: true },
    transport: { value: transports.join('|'), what: 'How Assay reaches the lab.', oneOf: transports, fallback: 'mllp' },
    port: { value: 'PORT', what: 'Port on 127.0.0.1. 0 for a free one. 2575 by default, and 2222 for SFTP.', shape: Port },
    results: { value: 'HOST:PORT', what: 'Where Assay receives results over MLLP: `receive` of LAB_CONNECTIONS.', shape: HostAndPort },
    'results-after': { value: 'SECONDS', what: 'Delay between an order and its results.', shape: Seconds, fallback: '2' },
    'host-key': {
      value: 'FILE',
      what: 'Private key of the SFTP server in OpenSSH format. A new one at each start by default.',
      file: true,
    },
    seed: { value: 'TEXT', what: 'The same seed gives the same reports and values.', fallback: 'assay' },
    misbehave: { value: misbehaviors.join('|'), what: 'What to do wrong with every message.', oneOf: misbehaviors },
  },
  examples: [
    'assay lab-sim --profile orm-2.3-grouped',
    'assay lab-sim --profile lab.json --results 127.0.0.1:2576',
    'assay lab-sim --profile lab.json --transport sftp',
    'assay lab-sim --profile lab.json --misbehave late_answer',
  ],
  async run({ json, profile: file, transport, port = defaultPorts[transport], results, 'results-after': after, seed, misbehave, ...sftp }) {
    const show = (line: object, text: string) => console.log(json ? JSON.stringify(line) : text)
    const desk = {
      profile: loadProfile(file, readText),
      misbehavior: misbehave,
      onMessage: (received: Received) => show(received, `${received.control_id}  ${received.actions.join(' ')}  ${received.code}`),
      onReport: (sent: Sent) => show(sent, `${sent.control_id}  ${sent.kind}  ${sent.code}`),
      onError: (error: unknown) => show({ error: String(error) }, `not sent: ${error instanceof Error ? error.message : error}`),
    }
    const at = { host: '127.0.0.1', port }
    const planned = { seed, afterMs: after * SECOND }
    // Before the output, because its reader can stop the command at once.
    const stopped = untilStopped()
    if (transport === 'sftp') {
      if (results) throw setupProblem('--results is for MLLP. Over SFTP, Assay picks results up')
      const hostKey = sftp['host-key'] === undefined ? undefined : readText(sftp['host-key'])
      await using lab = await startSftpStandIn({ ...desk, ...at, results: planned, password: PASSWORD, hostKey })
      const { fingerprint } = lab
      show(
        { listening: `127.0.0.1:${lab.port}`, host_key: fingerprint, user: USER, password: PASSWORD, orders: ORDERS, results: RESULTS },
        `listening on 127.0.0.1:${lab.port} with the host key ${fingerprint}, user ${USER}, password ${PASSWORD}`,
      )
      await stopped
    } else {
      if (fileMisbehaviors.some((one) => one === misbehave)) throw setupProblem(`--misbehave ${misbehave} is for --transport sftp`)
      await using lab = await startStandIn({ ...desk, ...at, results: results && { ...results, ...planned } })
      show({ listening: `127.0.0.1:${lab.port}` }, `listening on 127.0.0.1:${lab.port}`)
      await stopped
    }
  },
})

type Received = Parameters<Desk['onMessage']>[0]
type Sent = Parameters<NonNullable<Desk['onReport']>>[0]
