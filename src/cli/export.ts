import { createReadStream, existsSync, truncateSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { Id } from '../contract/common.ts'
import { headerOf, settingsOf, testsOf, usersOf } from '../operations/transfer/read.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { command, print } from './command.ts'
import { progress } from './progress.ts'
import { recordOperator } from './record-operator.ts'
import { stripByteOrderMark } from './service.ts'
import { withApp } from './with-app.ts'

export const exportCommand = command({
  name: 'export',
  summary:
    'Export a team to a file of JSON lines. The file contains users with demographics, insurance, orders, visits, results, emails, parsed lab reports and wearable data, and the lab tests, schedule, physicians and couriers of the team. Personal data in it is not encrypted, so store it on an encrypted disk.',
  options: {
    team: { value: 'ID', what: 'Team to export.', shape: Id, required: true },
    file: { value: 'FILE', what: 'Export file to write.', required: true, file: true },
    resume: { what: 'Continue an interrupted export of the same team.' },
  },
  examples: ['assay export --team ID --file team.ndjson', 'assay export --team ID --file team.ndjson --resume'],
  async run({ team, file, resume, json }) {
    if (existsSync(file) && !resume) throw setupProblem('The file already exists; choose another name, or continue it with --resume')
    const resumed = resume && existsSync(file) ? await findResumePoint(file, team) : undefined
    if (!resumed) console.error('The file contains unencrypted personal data. Only your user account can read it.')
    const users = await withApp(async (app) => {
      const replica = await app.replica?.caughtUp()
      const users = await writeExport({ ...app, db: replica?.db ?? app.db }, team, file, resumed)
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

type ExportHeader = { team?: { id?: string } }
type ResumePoint = { users: number; last: string | undefined }

async function writeExport(app: App, team: string, path: string, resumed: ResumePoint | undefined) {
  const header = await headerOf(app, team)
  const file = await open(path, resumed ? 'a' : 'wx', 0o600)
  const bar = progress('users', header.users, resumed?.users)
  let count = resumed?.users ?? 0
  try {
    if (!resumed) await writeHeader(app, team, file, header)
    for await (const line of usersOf(app, team, resumed?.last)) {
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

async function writeHeader(app: App, team: string, file: FileHandle, header: object) {
  await file.write(`${JSON.stringify(header)}\n`)
  await file.write(`${JSON.stringify(await settingsOf(app, team))}\n`)
  for (const test of await testsOf(app, team)) await file.write(`${JSON.stringify(test)}\n`)
}

/** Finds the end of an interrupted export and removes the last user, because some of its lines can be missing. */
async function findResumePoint(path: string, team: string): Promise<ResumePoint | undefined> {
  let point: ResumePoint = { users: 0, last: undefined }
  let [readBytes, userStart] = [0, 0]
  let current: string | undefined
  let header: ExportHeader | undefined
  for await (const text of createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY })) {
    const line = parseLine(text)
    if (!line) break
    header ??= line as ExportHeader
    if ('end' in line) throw setupProblem('The export in this file is complete; there is nothing to resume')
    const { user } = line as { user?: { user_id: string } }
    if (user && current) point = { users: point.users + 1, last: current }
    if (user) [current, userStart] = [user.user_id, readBytes]
    readBytes += Buffer.byteLength(text) + 1
  }
  if (header && header.team?.id !== team)
    throw setupProblem('The file is not an export of this team; pass the file that the interrupted export wrote')
  truncateSync(path, current ? userStart : readBytes)
  return header ? point : undefined
}

export function parseLine(text: string): object | undefined {
  try {
    const line = JSON.parse(stripByteOrderMark(text)) as unknown
    return typeof line === 'object' && line !== null ? line : undefined
  } catch {
    return undefined
  }
}
