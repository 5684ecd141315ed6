import { z } from 'zod'
import { loadProfile } from '../labs/hl7/profiles/read.ts'
import { misbehaviors, startStandIn } from '../labs/hl7/stand-in/lab.ts'
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

export const labSimCommand = command({
  name: 'lab-sim',
  summary:
    'Run a stand-in lab on this machine that speaks HL7 over MLLP as a profile describes. It accepts and cancels test orders (MSH-11 T), acknowledges them and prints one line per message. With --results, it sends simulated results: final ones and, depending on the seed, partial, corrected and reflex ones. The command needs no database and runs until you press Ctrl-C.',
  options: {
    profile: { value: 'FILE', what: 'A profile, or the name of a built-in one.', required: true, file: true },
    port: { value: 'PORT', what: 'Port on 127.0.0.1. 0 for a free one.', shape: Port, fallback: '2575' },
    results: { value: 'HOST:PORT', what: 'Where Assay receives results: `receive` of LAB_CONNECTIONS.', shape: HostAndPort },
    'results-after': { value: 'SECONDS', what: 'Delay between an order and its results.', shape: Seconds, fallback: '2' },
    seed: { value: 'TEXT', what: 'The same seed gives the same reports and values.', fallback: 'assay' },
    misbehave: { value: misbehaviors.join('|'), what: 'What to do wrong with every message.', oneOf: misbehaviors },
  },
  examples: [
    'assay lab-sim --profile orm-2.3-grouped',
    'assay lab-sim --profile lab.json --results 127.0.0.1:2576',
    'assay lab-sim --profile lab.json --misbehave late_answer',
  ],
  async run({ json, profile: file, port, results, 'results-after': after, seed, misbehave }) {
    const show = (line: object, text: string) => console.log(json ? JSON.stringify(line) : text)
    await using lab = await startStandIn({
      profile: loadProfile(file, readText),
      host: '127.0.0.1',
      port,
      misbehavior: misbehave,
      results: results && { ...results, seed, afterMs: after * SECOND },
      onMessage: (received) => show(received, `${received.control_id}  ${received.actions.join(' ')}  ${received.code}`),
      onReport: (sent) => show(sent, `${sent.control_id}  ${sent.kind}  ${sent.code}`),
      onError: (error) => show({ error: String(error) }, `not sent: ${error instanceof Error ? error.message : error}`),
    })
    // Before the output, because its reader can stop the command at once.
    const stopped = untilStopped()
    show({ listening: `127.0.0.1:${lab.port}` }, `listening on 127.0.0.1:${lab.port}`)
    await stopped
  },
})
