import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Id } from '../contract/common.ts'
import { requireTeam } from '../operations/transfer/read.ts'
import type { Records } from '../operations/transfer/records.ts'
import { brokenLine, type Row } from '../operations/transfer/rules.ts'
import { type Line, type Target, writeRecordLine, writeTest, writeUser } from '../operations/transfer/write.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import { recordOperator } from './audited.ts'
import { command, print, withApp } from './command.ts'
import { parsed } from './export.ts'
import { type Progress, progress } from './progress.ts'

export const importCommand = command({
  name: 'import',
  summary:
    'Read an export into a team: a user with all that belongs to it, or nothing of it, then its samples. What is there already is left alone, so an interrupted import is resumed by the same command. Connections by OAuth come without their access, so their users connect again. Nobody is told by webhook.',
  options: {
    team: { value: 'ID', what: 'The team to fill.', shape: Id, required: true },
    file: { value: 'FILE', what: 'The export.', required: true, file: true },
    'new-ids': {
      what: 'Make a copy with ids of its own, for another team of the same deployment. Orders in it are history: no lab gets them.',
    },
  },
  examples: ['assay import --team ID --file team.ndjson'],
  async run({ team, file, 'new-ids': new_ids, json }) {
    const done = await withApp(async (app) => {
      await requireTeam(app, team)
      const done = await read(app, file, { team_id: team, new_ids, own_tests: new Set() })
      return recordOperator(
        app,
        'import team',
        async () => done,
        () => `team_id:${team}`,
      )
    })
    print(json, { team_id: team, ...done }, [`wrote ${done.written} users; ${done.there} were there already`])
  },
})

async function read(app: App, path: string, target: Target) {
  const done = { written: 0, there: 0 }
  let bar: Progress | undefined
  let no = 0
  let ended = false
  for await (const text of linesOf(path)) {
    no++
    const line = parsed(text) as (Line & { users?: number; end?: object }) | undefined
    if (!line) throw brokenLine(no, 'is not JSON; take the export again, or resume it')
    if (no === 1) checkHead(line)
    if (no === 1) bar = progress('users', line.users)
    if (line.lab_test) await writeTest(app, target, line, no)
    if (line.user) (await writeUser(app, target, line, no)) ? done.written++ : done.there++
    if (line.user) bar?.add()
    if (line['records_of']) await writeRecordLine(app, target, line as Row & Records, no)
    ended = line.end !== undefined
  }
  bar?.end()
  if (!ended) throw setupProblem('The export was interrupted: its last line is missing. Resume it, then import again; what is here stays')
  return done
}

function checkHead(line: object) {
  if ((line as { assay_export?: unknown }).assay_export !== 1)
    throw setupProblem('The file is no export of a team, or of a version that this one does not know')
}

async function* linesOf(path: string) {
  const input = createReadStream(path)
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => {})
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([lines.next(), failed]).catch((error: NodeJS.ErrnoException) => {
      throw setupProblem(`The file cannot be read: ${error.code}`)
    })
    if (next.done) return
    yield next.value
  }
}
