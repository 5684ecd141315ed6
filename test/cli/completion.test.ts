import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/table.ts'
import { newDatabase, temporaryFolder } from '../support/world.ts'
import { assay } from './assay.ts'

const cli = assay(await newDatabase())
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const titleFor = (shell: string, title: string) => (has(shell) ? title : `${title} (skipped: ${shell} is not installed)`)
const script = async (shell: string) => (await cli.run('completion', shell)).out

describe('bash', () => {
  /** The completions that bash offers for the last word. */
  const completionsOf = async (...words: string[]) => {
    const request = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', `${await script('bash')}\n${request}`], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.trim().split('\n')
  }

  test.skipIf(!has('bash'))(titleFor('bash', 'the script is valid and completes commands, options and values'), async () => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: await script('bash'), encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    expect(await completionsOf('assay', '')).toEqual([...new Set(commands.map(({ name }) => name.split(' ')[0])), 'help'])
    expect(await completionsOf('assay', 'key')).toEqual(['keys'])
    expect(await completionsOf('assay', 'keys', 're')).toEqual(['revoke'])
    expect(await completionsOf('assay', 'keys', 'create', '--k')).toEqual(['--kind'])
    expect(await completionsOf('assay', 'keys', 'create', '--kind', 'org')).toEqual(['org_admin'])
    expect(await completionsOf('assay', 'org', '--pl')).toEqual(['--plan'])
    expect(await completionsOf('assay', 'help', 'ord')).toEqual(['orders'])
  })
})

for (const [shell, parse] of [['zsh', '-n'] as const, ['fish', '--no-execute'] as const])
  test.skipIf(!has(shell))(titleFor(shell, `${shell}: the script is valid`), async () => {
    // fish 3.6 refuses a script from the socket that Node gives it as standard input.
    const file = join(temporaryFolder(), `assay.${shell}`)
    writeFileSync(file, await script(shell))
    expect(spawnSync(shell, [parse, file], { encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

test.each(['bash', 'zsh', 'fish'])('%s: the script contains every command and option', async (shell) => {
  const text = await script(shell)
  for (const { name, options } of commands) {
    for (const word of name.split(' ')) expect(text).toContain(word)
    for (const option of Object.keys(options)) expect(text).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`)
  }
  expect((await cli.json('completion', shell)).script).toBe(text.trimEnd())
})
