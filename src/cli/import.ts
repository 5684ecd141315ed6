import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { Id } from '../contract/common.ts'
import { requireTeam } from '../operations/transfer/read.ts'
import { lineProblem } from '../operations/transfer/rules.ts'
import { type Line, type Target, writeRecordLine, writeSettings, writeTest, writeUser } from '../operations/transfer/write.ts'
import type { App } from '../platform/app.ts'
import { setupProblem } from '../platform/problem.ts'
import type { Records } from '../wearables/data/transfer/records.ts'
import { command, print } from './command.ts'
import { parseLine } from './export.ts'
import { type Progress, progress } from './progress.ts'
import { recordOperator } from './record-operator.ts'
import { unreadableFile } from './service.ts'
import { withApp } from './with-app.ts'

export const importCommand = command({
  name: 'import',
  summary:
    'Import an export into a team. The command skips users that exist, so run it again to resume an interrupted import. OAuth connections are imported without their tokens, so users need to connect again. Imports emit no events.',
  options: {
    team: { value: 'ID', what: 'Team to import into.', shape: Id, required: true },
    file: { value: 'FILE', what: 'Export file.', required: true, file: true },
    'new-ids': {
      what: 'Create new IDs, to copy a team within the same deployment. Copied orders are never sent to a lab.',
    },
  },
  examples: ['assay import --team ID --file team.ndjson'],
  async run({ team, file, 'new-ids': new_ids, json }) {
    const counts = await withApp(async (app) => {
      await requireTeam(app, team)
      const counts = await readExport(app, file, { team_id: team, new_ids })
      return recordOperator(
        app,
        'import team',
        async () => counts,
        () => `team_id:${team}`,
      )
    })
    print(json, { team_id: team, ...counts }, [`imported ${counts.written} users; ${counts.there} users existed`])
  },
})

async function readExport(app: App, path: string, target: Target) {
  const counts = { written: 0, there: 0 }
  let bar: Progress | undefined
  let lineNumber = 0
  let isComplete = false
  for await (const text of linesOf(path)) {
    lineNumber++
    const line = parseLine(text) as (Line & { users?: number; end?: object }) | undefined
    if (!line) throw lineProblem(lineNumber, 'the line is not JSON; repeat or resume the export')
    if (lineNumber === 1) checkHeader(line)
    if (lineNumber === 1) bar = progress('users', line.users)
    if (line.team_settings) await writeSettings(app, target, line.team_settings, lineNumber)
    if (line.lab_test) await writeTest(app, target, line, lineNumber)
    if (line.user) (await writeUser(app, target, line, lineNumber)) ? counts.written++ : counts.there++
    if (line.user) bar?.add()
    if (line['records_of']) await writeRecordLine(app, target, line as Line & Records, lineNumber)
    isComplete = line.end !== undefined
  }
  bar?.end()
  if (!isComplete) throw setupProblem('The export is incomplete: its last line is missing. Resume the export, then import again')
  return counts
}

function checkHeader(line: object) {
  if ((line as { assay_export?: unknown }).assay_export !== 1) throw setupProblem('The file is not an export that this version can read')
}

async function* linesOf(path: string) {
  const input = createReadStream(path)
  const failed = new Promise<never>((_, reject) => input.once('error', reject))
  failed.catch(() => {})
  const lines = createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })[Symbol.asyncIterator]()
  for (;;) {
    const next = await Promise.race([lines.next(), failed]).catch((error: NodeJS.ErrnoException) => {
      throw unreadableFile(error)
    })
    if (next.done) return
    yield next.value
  }
}
