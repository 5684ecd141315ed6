import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/table.ts'
import { newDatabase } from '../support/world.ts'
import { assay } from './assay.ts'

const cli = assay(await newDatabase())
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const script = async (shell: string) => (await cli.run('completion', shell)).out

describe('bash', () => {
  /** The completions that bash offers for the last word. */
  const completionsOf = async (...words: string[]) => {
    const request = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', `${await script('bash')}\n${request}`], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.trim().split('\n')
  }

  test.skipIf(!has('bash'))('the script is valid and completes commands, options and values', async () => {
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

/** Installed shells only. The words of every script are tested below. */
const others = [['zsh', '-n'] as const, ['fish', '--no-execute'] as const].filter(([shell]) => has(shell))

for (const [shell, parse] of others)
  test(`${shell}: the script is valid`, async () => {
    expect(spawnSync(shell, [parse], { input: await script(shell), encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

test.each(['bash', 'zsh', 'fish'])('%s: the script contains every command and option', async (shell) => {
  const text = await script(shell)
  for (const { name, options } of commands) {
    for (const word of name.split(' ')) expect(text).toContain(word)
    for (const option of Object.keys(options)) expect(text).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`)
  }
  expect((await cli.json('completion', shell)).script).toBe(text.trimEnd())
})
