import { createReadStream, existsSync, truncateSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Id } from '../contract/common.ts'
import { headOf, testsOf, usersOf } from '../operations/transfer/read.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { progress } from './progress.ts'
import { withoutMark } from './service.ts'

export const exportCommand = command({
  name: 'export',
  summary:
    'Export a team to a file of JSON lines. The file contains users with demographics, insurance, orders, results and wearable data, and the lab tests of the team. Personal data in it is not encrypted, so store it on an encrypted disk.',
  options: {
    team: { value: 'ID', what: 'Team to export.', shape: Id, required: true },
    file: { value: 'FILE', what: 'Export file to write.', required: true, file: true },
    resume: { what: 'Continue an interrupted export of the same team.' },
  },
  examples: ['assay export --team ID --file team.ndjson', 'assay export --team ID --file team.ndjson --resume'],
  async run({ team, file, resume, json }) {
    if (existsSync(file) && !resume) throw setupProblem('The file already exists; choose another name, or continue it with --resume')
    const before = resume && existsSync(file) ? await writtenIn(file, team) : undefined
    if (!before) console.error('The file contains unencrypted personal data. Only your user account can read it.')
    const users = await withApp(async (app) => {
      const users = await write(app, team, file, before)
      return recordOperator(
        app,
        'export team',
        async () => users,
        () => `team_id:${team}`,
      )
    })
    print(json, { file, team_id: team, users }, [`wrote ${users} users to ${file}`])
  },
})

type Headed = { team?: { id?: string } }
type Before = { users: number; last: string | undefined }

async function write(app: App, team: string, path: string, before: Before | undefined) {
  const head = await headOf(app, team)
  const file = await open(path, before ? 'a' : 'wx', 0o600)
  const bar = progress('users', head.users, before?.users)
  let count = before?.users ?? 0
  try {
    if (!before) await begin(app, team, file, head)
    for await (const line of usersOf(app, team, before?.last)) {
      await file.write(`${JSON.stringify(line)}\n`)
      if (!('user' in line)) continue
      count++
      bar.add()
    }
    await file.write(`${JSON.stringify({ end: { users: count } })}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  bar.end()
  return count
}

async function begin(app: App, team: string, file: FileHandle, head: object) {
  await file.write(`${JSON.stringify(head)}\n`)
  for (const test of await testsOf(app, team)) await file.write(`${JSON.stringify(test)}\n`)
}

/** Finds the end of an interrupted export. The last user is cut off, because some of its lines can be missing. */
async function writtenIn(path: string, team: string): Promise<Before | undefined> {
  let found: Before = { users: 0, last: undefined }
  let [whole, done] = [0, 0]
  let current: string | undefined
  let head: Headed | undefined
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const line = parsed(text)
    if (!line) break
    head ??= line as Headed
    if ('end' in line) throw setupProblem('The export in this file is complete')
    const { user } = line as { user?: { user_id: string } }
    if (user && current) found = { users: found.users + 1, last: current }
    if (user) [current, done] = [user.user_id, whole]
    whole += Buffer.byteLength(text) + 1
  }
  if (head && head.team?.id !== team) throw setupProblem('The file is not an export of this team')
  truncateSync(path, current ? done : whole)
  return head ? found : undefined
}

export function parsed(text: string): object | undefined {
  try {
    const line = JSON.parse(withoutMark(text)) as unknown
    return typeof line === 'object' && line !== null ? line : undefined
  } catch {
    return undefined
  }
}
