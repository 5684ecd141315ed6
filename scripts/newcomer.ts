import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newcomer, table } from '../test/docs/support/newcomer.ts'

/** Measures the README's path from `git clone` to a verified webhook. `-- --linked` uses the installed dependencies. */
const folder = join(mkdtempSync(join(tmpdir(), 'assay-newcomer-')), 'assay')
const { faults, stages, verified } = await newcomer(folder, { linked: process.argv.includes('--linked') })
console.log(table(stages))
if (verified) console.log(`\n${table([{ ...verified, name: `to ${verified.name}` }])}`)
for (const fault of faults) console.error(`\n${fault}`)
rmSync(join(folder, '..'), { recursive: true, force: true })
process.exit(faults.length || !verified ? 1 : 0)
