import { existsSync } from 'node:fs'
import { z } from 'zod'
import { builtInText, readProfile } from '../labs/hl7/profiles/read.ts'
import { misbehaviors, startStandIn } from '../labs/hl7/stand-in/lab.ts'
import { setupProblem } from '../platform/problem.ts'
import { command } from './command.ts'
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
    'Run a stand-in lab on this machine that speaks HL7 over MLLP by a profile. It accepts and cancels test orders (MSH-11 T), acknowledges them and prints one line per message. It sends no results. The command needs no database and runs until you press Ctrl-C.',
  options: {
    profile: { value: 'FILE', what: 'A profile, or the name of a built-in one.', required: true, file: true },
    port: { value: 'PORT', what: 'Port on 127.0.0.1. 0 for a free one.', shape: Port, fallback: '2575' },
    misbehave: { value: misbehaviors.join('|'), what: 'What to do wrong with every message.', oneOf: misbehaviors },
  },
  examples: ['assay lab-sim --profile orm-2.3-grouped', 'assay lab-sim --profile lab.json --misbehave late_answer'],
  async run({ json, profile: file, port, misbehave }) {
    const { profile, problems } = readProfile(existsSync(file) ? readText(file) : builtInText(file))
    if (!profile || problems.length) throw setupProblem('The profile has problems; list them with: assay labs check')
    const show = (line: object, text: string) => console.log(json ? JSON.stringify(line) : text)
    await using lab = await startStandIn({
      profile,
      host: '127.0.0.1',
      port,
      misbehavior: misbehave,
      onMessage: (received) => show(received, `${received.control_id}  ${received.actions.join(' ')}  ${received.code}`),
    })
    show({ listening: `127.0.0.1:${lab.port}` }, `listening on 127.0.0.1:${lab.port}`)
    await untilStopped()
  },
})
